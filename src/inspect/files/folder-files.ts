// Finds and reads the files that -f names, by itself or by their folder. A failure is a UsageError of one line.
import { constants } from "node:buffer";
import { readdirSync, readFileSync, statSync, type Dirent } from "node:fs";
import { extname, join } from "node:path";
import { UsageError } from "../../controller/settings/config.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import { isKustomization } from "./kustomize-inputs.ts";

const EXTENSIONS = [".yaml", ".yml", ".json"];
/** Files from which programs render manifests. */
export const TEMPLATE =
  /\.(?:tpl|tmpl|gotmpl|tftpl|j2|jinja2?|erb|tf|hcl|tofu|jsonnet|libsonnet|cue|nix|dhall)$/i;
/** Folders of tools, in which no manifests are kept. */
const NO_FOLDERS = new Set([".git", "node_modules"]);

/** The files of a folder that may hold manifests or templates of them, by name. */
export function filesIn(path: string, recursive: boolean): readonly string[] {
  const files = entriesIn(path, recursive)
    .filter((file) => (isManifestName(file) || TEMPLATE.test(file)) && isFile(file))
    .toSorted();
  if (files.length > 0) return files;
  const hint = recursive ? "" : "; -R looks into its folders too";
  throw new UsageError(`-f ${path}: no file in it ends with ${EXTENSIONS.join(", ")}${hint}`);
}

/** How many folders of it hold files that are not looked at without -R. */
export function foldersIn(path: string): number {
  return readFolder(path).filter((entry) => entry.isDirectory() && !NO_FOLDERS.has(entry.name))
    .length;
}

function isManifestName(file: string): boolean {
  return EXTENSIONS.includes(extname(file)) || isKustomization(file);
}

// Links to folders are not followed, as in kubectl: in a clone, they may form a loop.
function entriesIn(folder: string, recursive: boolean): readonly string[] {
  return readFolder(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return recursive && !NO_FOLDERS.has(entry.name) ? entriesIn(path, recursive) : [];
  });
}

function readFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw unreadable(folder, error);
  }
}

// A link in a clone may be broken.
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function contentOf(file: string): string {
  try {
    // Node reads a file whole before it finds that no text can be as long.
    if (statSync(file).size <= constants.MAX_STRING_LENGTH) return textOf(readFileSync(file));
  } catch (error) {
    throw unreadable(file, error);
  }
  throw new UsageError(`-f ${file}: is larger than ${constants.MAX_STRING_LENGTH} bytes`);
}

/** UTF-16 begins with a byte order mark. Everything else is UTF-8, as kubectl reads it. */
export function textOf(bytes: Buffer): string {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe;
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff;
  if (!isLittle && !isBig) return bytes.toString("utf8");
  const units = bytes.subarray(2, bytes.length - (bytes.length % 2));
  return (isLittle ? units : Buffer.from(units).swap16()).toString("utf16le");
}

function unreadable(path: string, error: unknown): UsageError {
  const code = isRecord(error) ? error["code"] : undefined;
  const why = code === "ENOENT" ? "does not exist" : `cannot be read (${String(code)})`;
  return new UsageError(`-f ${path}: ${why}`);
}
