// Objects of the API out of files: YAML of several documents, JSON, Lists within Lists, whatever
// kustomize, helm and kubectl print. Promises: every object comes with the file and line that it
// begins on; what cannot be read is a UsageError of one line with file, line and column, which quotes
// nothing of the file. It does not judge what kind of objects they are.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { loadAll, YAMLException } from "js-yaml";
import { UsageError } from "../../config/config.ts";
import { isRecord } from "../../kube/json.ts";

export type FileObject = {
  readonly raw: Readonly<Record<string, unknown>>;
  /** "FILE:LINE" of the document that it is in. */
  readonly where: string;
};

/** Whence `-` is read; undefined: there is none. */
export type Input = AsyncIterable<Uint8Array | string> | undefined;

const EXTENSIONS = [".yaml", ".yml", ".json"];

/** Of `-f`, in the order in which they were given; a folder's files by name, and with `-R` those of its folders. */
export async function readFileObjects(
  paths: readonly string[],
  { recursive = false, stdin }: { readonly recursive?: boolean; readonly stdin?: Input } = {},
): Promise<readonly FileObject[]> {
  const objects: FileObject[] = [];
  for (const path of paths) {
    if (path === "-") objects.push(...objectsOf("stdin", await textOf(stdin)));
    else
      for (const file of filesAt(path, recursive))
        objects.push(...objectsOf(file, contentOf(file)));
  }
  return objects;
}

/** All objects of one text. */
function objectsOf(file: string, text: string): readonly FileObject[] {
  return documentsOf(file, text).flatMap(({ value, line }) => {
    const where = `${file}:${line}`;
    if (value === undefined || value === null) return [];
    if (!isRecord(value)) throw new UsageError(`${where}: is no object of Kubernetes`);
    return [...itemsOf(value, where)];
  });
}

function* itemsOf(raw: FileObject["raw"], where: string): Generator<FileObject> {
  const { kind } = raw;
  if (typeof kind !== "string" || kind === "")
    throw new UsageError(`${where}: has no kind: is it an object of Kubernetes?`);
  if (!kind.endsWith("List") || !Array.isArray(raw["items"])) {
    yield { raw, where };
    return;
  }
  for (const item of raw["items"] as readonly unknown[]) {
    if (!isRecord(item)) throw new UsageError(`${where}: an item of its ${kind} is no object`);
    // The items of a SecretList do not say what they are.
    const inherited = kind === "List" ? {} : { kind: kind.slice(0, -"List".length) };
    yield* itemsOf({ apiVersion: raw["apiVersion"], ...inherited, ...item }, where);
  }
}

type Document = { readonly value: unknown; readonly line: number };

// One document after the other, so that each is told by its own line.
function documentsOf(file: string, text: string): readonly Document[] {
  if (/^\s*[{[]/.test(text)) {
    const json = jsonOf(text);
    if (json) return json;
  }
  return pieces(text).flatMap(({ text: piece, line }) =>
    yamlOf(file, piece, line - 1).map((value) => ({ value, line: firstLine(piece, line) })),
  );
}

// Undefined where it is not JSON: then the YAML reader says what is wrong with it, and where.
function jsonOf(text: string): readonly Document[] | undefined {
  try {
    return [{ value: JSON.parse(text), line: 1 }];
  } catch {
    return concatenated(text);
  }
}

// As `kubectl get -o json` of several calls, one after the other.
function concatenated(text: string): readonly Document[] | undefined {
  const documents: Document[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  let line = 1;
  let begins = 1;
  try {
    for (let at = 0; at < text.length; at++) {
      const sign = text[at];
      if (sign === "\n") line++;
      if (quoted) {
        if (sign === "\\") at++;
        else if (sign === '"') quoted = false;
      } else if (sign === '"') quoted = true;
      else if (sign === "{" || sign === "[") {
        if (depth++ === 0) begins = line;
      } else if ((sign === "}" || sign === "]") && --depth === 0) {
        documents.push({ value: JSON.parse(text.slice(from, at + 1)), line: begins });
        from = at + 1;
      }
    }
  } catch {
    return undefined;
  }
  return depth === 0 && text.slice(from).trim() === "" ? documents : undefined;
}

type Piece = { readonly text: string; readonly line: number };

// At lines of "---": within a block text they are indented. Directives stay with what follows.
function pieces(text: string): readonly Piece[] {
  const found: Piece[] = [];
  let lines: string[] = [];
  let line = 1;
  const all = text.split("\n");
  for (const [index, each] of all.entries()) {
    if (/^---(\s|$)/.test(each) && !lines.every(isDirective)) {
      found.push({ text: lines.join("\n"), line });
      lines = [];
      line = index + 1;
    }
    lines.push(each);
  }
  return [...found, { text: lines.join("\n"), line }];
}

function isDirective(line: string): boolean {
  return line.startsWith("%") || line.trim() === "" || line.startsWith("#");
}

function firstLine(piece: string, line: number): number {
  const at = piece
    .split("\n")
    .findIndex((each) => !isDirective(each) && !/^---\s*(#.*)?$/.test(each));
  return line + Math.max(0, at);
}

function yamlOf(file: string, text: string, before: number): readonly unknown[] {
  try {
    return loadAll(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark } = error;
    const at = mark ? `:${before + mark.line + 1}:${mark.column + 1}` : "";
    // What the error quotes may be a value: told are the reader's own words.
    const [words = ""] = error.reason.split(/ ?["!]|: /);
    throw new UsageError(`${file}${at}: is not YAML: ${words}`);
  }
}

function filesAt(path: string, recursive: boolean): readonly string[] {
  if (!isFolder(path)) return [path];
  const files = readdirSync(path, { withFileTypes: true, recursive })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => EXTENSIONS.includes(extname(file)) && !isFolder(file))
    .toSorted();
  if (files.length > 0) return files;
  const hint = recursive ? "" : "; -R looks into its folders too";
  throw new UsageError(`-f ${path}: no file in it ends with ${EXTENSIONS.join(", ")}${hint}`);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): UsageError {
  const code = isRecord(error) ? error["code"] : undefined;
  const why = code === "ENOENT" ? "does not exist" : `cannot be read (${String(code)})`;
  return new UsageError(`-f ${path}: ${why}`);
}

async function textOf(stdin: Input): Promise<string> {
  if (stdin === undefined) throw new UsageError("-f -: there is nothing on stdin");
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}
