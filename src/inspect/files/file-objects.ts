// Reads API objects from files: the output of kustomize, helm and kubectl, and cloned repositories.
// Promises: every object has the file and line where it begins. In a folder, files that are not manifests
// are counted, and unreadable files are listed. A file that is named directly must be a manifest. Otherwise
// a UsageError gives the reason. The kinds of the objects are not checked here.
import { existsSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { UsageError } from "../../controller/settings/config.ts";
import { apiVersionOf } from "../../text/names.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import {
  AS_WRITTEN,
  filePlaces,
  nameIn,
  namespaceIn,
  namespaceName,
  type FilePlace,
  type FilePlaces,
  type Kustomization,
} from "./file-places.ts";
import {
  contentOf,
  filesIn,
  foldersIn,
  isFolder,
  TEMPLATE,
  textOf as textOfBytes,
} from "./folder-files.ts";
import { inputsOf, isKustomization } from "./kustomize-inputs.ts";
import { documentsOf, type FileDocument } from "./yaml-documents.ts";

export type FileObject = {
  readonly raw: Readonly<Record<string, unknown>>;
  /** "FILE:LINE" of the document that it is in. */
  readonly where: string;
  /** Its file was found in a folder, so a problem in it does not stop reading the other files. */
  readonly found: boolean;
  /** What renames it outside of its manifest. `raw` has the names that result. */
  readonly place: FilePlace | "several";
};

/** A file of a folder that is not a manifest, or not only one. */
export type OtherFile = { readonly file: string; readonly what: string };

export type FileReading = {
  readonly objects: readonly FileObject[];
  /** Number of files that are not manifests, by kind of file, and of folders that are not looked into. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** The files with content that was skipped. */
  readonly others: readonly OtherFile[];
  /** What cannot be read, a line each. */
  readonly unread: readonly string[];
};

/** The input for `-`. Undefined when stdin is not available. */
export type Input = AsyncIterable<Uint8Array | string> | undefined;

/** Limits for the nesting of lists and for the objects of a document, because aliases can multiply them. */
const MOST_NESTED = 8;
const MOST_OBJECTS = 200_000;

/**
 * Reads the files of `-f` in the given order. The files of a folder are sorted by name. `-R` includes its
 * subfolders.
 */
export async function readFileObjects(
  paths: readonly string[],
  { recursive = false, stdin }: { readonly recursive?: boolean; readonly stdin?: Input } = {},
): Promise<FileReading> {
  const reader = new FileReader();
  for (const path of paths) {
    if (path === "-") reader.readNamed("stdin", await textOf(stdin));
    else if (!isFolder(path)) reader.readNamed(path, contentOf(path));
    else {
      reader.readFolder(filesIn(path, recursive));
      if (!recursive) reader.passFolders(foldersIn(path));
    }
  }
  reader.place();
  return reader;
}

class FileReader implements FileReading {
  objects: FileObject[] = [];
  readonly #kustomizations: Kustomization[] = [];
  readonly passedOver = new Map<string, number>();
  readonly others: OtherFile[] = [];
  readonly unread: string[] = [];

  /** Reads a file that must be a manifest. */
  readNamed(file: string, text: string): void {
    for (const { value, line } of documentsOf(file, text)) {
      const where = `${file}:${line}`;
      if (value === undefined || value === null) continue;
      if (!isRecord(value)) throw new UsageError(`${where}: is no object of Kubernetes`);
      for (const field of ["kind", "apiVersion"])
        if (typeof value[field] !== "string" || value[field] === "")
          throw new UsageError(`${where}: has no ${field}: is it an object of Kubernetes?`);
      this.objects.push(...itemsOf(value, where, false));
    }
  }

  readFolder(files: readonly string[]): void {
    const inputs = new Map<string, string>();
    for (const file of files) {
      if (!isKustomization(file)) continue;
      for (const value of kustomizationsIn(file)) {
        this.#kustomizations.push({ folder: dirname(file), value });
        for (const [path, what] of inputsOf(dirname(file), value)) inputs.set(path, what);
      }
    }
    for (const file of files) {
      const kind = knownKind(file, inputs);
      if (kind !== undefined) this.#passOver(file, kind);
      else this.#readFound(file);
    }
  }

  passFolders(count: number): void {
    if (count > 0) this.#count("folder (-R looks into it)", count);
  }

  /** Gives the objects the names that kustomizations and deployments give them. */
  place(): void {
    const raws = this.objects.map(({ raw }) => raw);
    const files = new Set(this.objects.map(({ where }) => fileOf(where)));
    const places = filePlaces(files, this.#kustomizations, raws);
    this.objects = this.objects.map((object) => placed(object, places));
  }

  #readFound(file: string): void {
    let text: string | undefined;
    let documents: readonly FileDocument[];
    try {
      text = contentOf(file);
      documents = documentsOf(file, text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      if (text === undefined) this.unread.push(error.message);
      else if (text.includes("{{")) this.#passOver(file, "template");
      else if (!/^[ \t"']*(apiVersion|kind)["']?[ \t]*:/m.test(text))
        this.#passOver(file, "other file");
      else this.unread.push(error.message);
      return;
    }
    for (const { value, line } of documents) {
      if (value === undefined || value === null) continue;
      const isManifest =
        isRecord(value) &&
        typeof value["kind"] === "string" &&
        typeof value["apiVersion"] === "string";
      if (isManifest) this.#take(value, `${file}:${line}`);
      else this.#passOver(file, "other file");
    }
  }

  #take(value: FileObject["raw"], where: string): void {
    try {
      this.objects.push(...itemsOf(value, where, true));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.unread.push(error.message);
    }
  }

  #passOver(file: string, what: string): void {
    if (this.others.at(-1)?.file !== file) this.others.push({ file, what });
    this.#count(what, 1);
  }

  #count(what: string, more: number): void {
    this.passedOver.set(what, (this.passedOver.get(what) ?? 0) + more);
  }
}

/** "FILE:LINE" without the line. */
export function fileOf(where: string): string {
  return where.slice(0, where.lastIndexOf(":"));
}

function placed(object: FileObject, places: FilePlaces): FileObject {
  const { raw, where } = object;
  const { kind, metadata } = raw;
  const place = places.get(fileOf(where)) ?? AS_WRITTEN;
  if (place === "several") return { ...object, place };
  if (!isRecord(metadata) || kind === "CustomResourceDefinition") return { ...object, place };
  if (kind === "Namespace") {
    const own = { name: namespaceName(place, metadata["name"]) };
    return { ...object, raw: { ...raw, metadata: { ...metadata, ...own } }, place };
  }
  const namespace = namespaceIn(place, metadata["namespace"]);
  const { name } = metadata;
  const named = typeof name === "string" ? { name: nameIn(place, name) } : {};
  const moved = namespace === undefined ? named : { ...named, namespace };
  return { ...object, raw: { ...raw, metadata: { ...metadata, ...moved } }, place };
}

/** The kind of a file that is not a manifest, by its path. Undefined when its content decides. */
function knownKind(file: string, inputs: ReadonlyMap<string, string>): string | undefined {
  if (TEMPLATE.test(file)) return "template";
  if (isKustomization(file)) return "kustomization";
  return inputs.get(normalize(file)) ?? partOfChart(file);
}

/** What a file of a chart is for, at any depth. A chart may contain charts. */
function partOfChart(file: string): string | undefined {
  for (let inner = file, folder = dirname(file); ; inner = folder, folder = dirname(folder)) {
    if (inner !== file && existsSync(join(folder, "Chart.yaml"))) {
      const part = basename(inner);
      if (part === "templates") return "template";
      if (part === "crds" || part === "charts") return "part of a chart";
    }
    if (folder === dirname(folder)) return undefined;
  }
}

function kustomizationsIn(file: string): readonly FileObject["raw"][] {
  try {
    return documentsOf(file, contentOf(file)).flatMap(({ value }) =>
      isRecord(value) ? [value] : [],
    );
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** All objects of one document. */
function itemsOf(raw: FileObject["raw"], where: string, found: boolean): readonly FileObject[] {
  const objects: FileObject[] = [];
  const take = (value: FileObject["raw"], depth: number): void => {
    const { kind } = value;
    if (typeof kind !== "string" || kind === "")
      throw new UsageError(`${where}: has no kind: is it an object of Kubernetes?`);
    if (!kind.endsWith("List") || !Array.isArray(value["items"])) {
      if (objects.length >= MOST_OBJECTS)
        throw new UsageError(`${where}: has more than ${MOST_OBJECTS} objects`);
      objects.push({ raw: asStored(value), where, found, place: AS_WRITTEN });
      return;
    }
    if (depth >= MOST_NESTED)
      throw new UsageError(`${where}: has lists within lists, more than ${MOST_NESTED} deep`);
    for (const item of value["items"] as readonly unknown[]) {
      if (!isRecord(item)) throw new UsageError(`${where}: an item of its ${kind} is no object`);
      // The items of a SecretList do not say what they are.
      const inherited = kind === "List" ? {} : { kind: kind.slice(0, -"List".length) };
      take({ apiVersion: value["apiVersion"], ...inherited, ...item }, depth + 1);
    }
  };
  take(raw, 0);
  return objects;
}

/** For an API server, a label or an annotation that is null, as `key:` is in YAML, has an empty value. */
function asStored(raw: FileObject["raw"]): FileObject["raw"] {
  const { metadata } = raw;
  if (!isRecord(metadata)) return raw;
  const maps = ["labels", "annotations"].flatMap((field) => {
    const map = metadata[field];
    if (!isRecord(map) || !Object.values(map).includes(null)) return [];
    const texts = Object.entries(map).map(([key, value]) => [key, value ?? ""]);
    return [[field, Object.fromEntries(texts)]];
  });
  return maps.length === 0
    ? raw
    : { ...raw, metadata: { ...metadata, ...Object.fromEntries(maps) } };
}

async function textOf(stdin: Input): Promise<string> {
  if (stdin === undefined) throw new UsageError("-f -: there is nothing on stdin");
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return textOfBytes(Buffer.concat(chunks));
}

/** Whether an object names this kind, group and version. */
export function isObjectOf(
  resource: { readonly group: string; readonly version: string; readonly kind: string },
  { apiVersion, kind }: FileObject["raw"],
): boolean {
  return kind === resource.kind && apiVersion === apiVersionOf(resource);
}
