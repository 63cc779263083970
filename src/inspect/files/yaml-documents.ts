// Reads the documents of one text: YAML documents, JSON, or several JSON values. YAML is read as kubectl
// reads it. An error is a UsageError with file, line and column that quotes nothing of the file.
import { loadAll, YAMLException } from "js-yaml";
import { UsageError } from "../../controller/settings/config.ts";
import { KUBECTL_SCHEMA } from "../../../packages/kube/kubeconfig/kubectl-yaml.ts";

export type FileDocument = { readonly value: unknown; readonly line: number };

/** One document after the other, each with its own line. */
export function documentsOf(file: string, bytes: string): readonly FileDocument[] {
  // Files that are joined can each begin with a byte order mark.
  const text = bytes.replace(/^\ufeff/gm, "");
  if (/^\s*[{[]/.test(text)) {
    const json = jsonOf(text);
    if (json) return json;
  }
  return pieces(text).flatMap(({ text: piece, line }) =>
    yamlOf(file, piece, line - 1).map((value) => ({ value, line: firstLine(piece, line) })),
  );
}

// Undefined where it is not JSON: then the YAML reader says what is wrong with it, and where.
function jsonOf(text: string): readonly FileDocument[] | undefined {
  try {
    return [{ value: JSON.parse(text), line: 1 }];
  } catch {
    return concatenated(text);
  }
}

// As `kubectl get -o json` of several calls, one after the other.
function concatenated(text: string): readonly FileDocument[] | undefined {
  const documents: FileDocument[] = [];
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
    return loadAll(text, { schema: KUBECTL_SCHEMA });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark } = error;
    const at = mark ? `:${before + mark.line + 1}:${mark.column + 1}` : "";
    // The error may quote a value, so only the parser's own text is printed.
    const [words = ""] = error.reason.split(/ ?["!]|: /);
    throw new UsageError(`${file}${at}: is not YAML: ${words}`);
  }
}
