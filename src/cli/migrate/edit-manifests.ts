// New annotations in manifests as people keep them: put in where they belong, and every other byte, with
// its comments, order and quotes, stays. Only text is added. What it did is told as a diff.
import { isMap, isScalar, isSeq, parseAllDocuments, type YAMLMap } from "yaml";
import { UsageError } from "../../config/config.ts";

type Texts = Readonly<Record<string, string>>;

/** By "KIND NAMESPACE/NAME"; the namespace of a Namespace is "". */
export type ManifestEdits = ReadonlyMap<string, Texts>;

export type EditedManifest = {
  readonly text: string;
  /** As `diff -U0` prints it, without the names of the files. */
  readonly diff: string;
  /** Which of the edits were made. */
  readonly done: readonly string[];
};

type Insertion = { readonly at: number; readonly text: string };

/** `namespace`: of objects that name none. */
export function editManifest(
  file: string,
  text: string,
  edits: ManifestEdits,
  namespace: string,
): EditedManifest {
  const insertions: Insertion[] = [];
  const done: string[] = [];
  for (const document of parseAllDocuments(text)) {
    const [error] = document.errors;
    // What the error quotes may be a value.
    if (error) throw new UsageError(`${file}: is not YAML: ${error.code}`);
    for (const object of objectsIn(document.contents)) {
      const name = nameOf(object, namespace);
      const annotations = name === undefined ? undefined : edits.get(name);
      if (name === undefined || !annotations) continue;
      for (const [key, value] of Object.entries(annotations)) {
        if (!object.hasIn(["metadata", "annotations", key])) continue;
        // Twice in one mapping it would be no YAML any more.
        const wanted = `make it ${JSON.stringify(value)} there and run this again`;
        throw new UsageError(`${file}: ${name} has ${key} already: ${wanted}`);
      }
      const insertion = insertionInto(object, annotations, text);
      if (!insertion) throw new UsageError(`${file}: metadata of ${name} is no plain mapping`);
      insertions.push(insertion);
      done.push(name);
    }
  }
  insertions.sort((a, b) => a.at - b.at);
  return { text: withInsertions(text, insertions), diff: diffOf(text, insertions), done };
}

function* objectsIn(contents: unknown): Generator<YAMLMap> {
  if (!isMap(contents)) return;
  const items = contents.get("items");
  if (String(contents.get("kind")).endsWith("List") && isSeq(items)) {
    for (const item of items.items) yield* objectsIn(item);
  } else yield contents;
}

function nameOf(object: YAMLMap, otherwise: string): string | undefined {
  const metadata = object.get("metadata");
  if (!isMap(metadata)) return undefined;
  const kind = String(object.get("kind"));
  const own = metadata.get("namespace");
  const namespace = kind === "Namespace" ? "" : typeof own === "string" ? own : otherwise;
  return `${kind} ${namespace}/${String(metadata.get("name"))}`;
}

function insertionInto(object: YAMLMap, added: Texts, text: string): Insertion | undefined {
  const metadata = object.get("metadata");
  if (!isMap(metadata)) return undefined;
  const annotations = metadata.get("annotations");
  if (isMap(annotations) && annotations.items.length > 0) return before(annotations, added, text);
  // `annotations: {}` and `annotations:` would be there twice.
  if (metadata.has("annotations")) return undefined;
  return before(metadata, { annotations: added }, text);
}

type Nested = Readonly<Record<string, string | Texts>>;

/** Before the first entry of the mapping, as the others stand there. */
function before(map: YAMLMap, added: Nested, text: string): Insertion | undefined {
  const key = map.items[0]?.key;
  const at = isScalar(key) ? key.range?.[0] : undefined;
  if (at === undefined) return undefined;
  if (map.flow === true) return { at, text: `${flowText(added)}, ` };
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const indent = " ".repeat(at - start);
  const lines = blockLines(added, "").map((line) => `${indent}${line}\n`);
  // The first entry may stand behind a "- ".
  if (text.slice(start, at).trim() !== "") {
    return { at, text: `${lines.join("").trimStart()}${indent}` };
  }
  return { at: start, text: lines.join("") };
}

function flowText(added: Nested): string {
  return Object.entries(added)
    .map(([key, value]) => {
      const shown = typeof value === "string" ? JSON.stringify(value) : `{ ${flowText(value)} }`;
      return `${JSON.stringify(key)}: ${shown}`;
    })
    .join(", ");
}

function blockLines(added: Nested, indent: string): readonly string[] {
  return Object.entries(added).flatMap(([key, value]) =>
    typeof value === "string"
      ? [`${indent}${key}: ${scalarText(value)}`]
      : [`${indent}${key}:`, ...blockLines(value, `${indent}  `)],
  );
}

// What could be anything but text to a reader of YAML stands in quotes.
function scalarText(value: string): string {
  const plain =
    /^[a-z][-a-z0-9.,/]*$/.test(value) && !/^(true|false|yes|no|on|off|null|y|n)$/.test(value);
  return plain ? value : JSON.stringify(value);
}

function withInsertions(text: string, insertions: readonly Insertion[]): string {
  let [result, from] = ["", 0];
  for (const { at, text: added } of insertions) {
    result += text.slice(from, at) + added;
    from = at;
  }
  return result + text.slice(from);
}

function diffOf(text: string, insertions: readonly Insertion[]): string {
  let [diff, moved] = ["", 0];
  for (const { at, text: added } of insertions) {
    const line = text.slice(0, at).split("\n").length;
    const start = text.lastIndexOf("\n", at - 1) + 1;
    if (start === at && added.endsWith("\n")) {
      const lines = added.trimEnd().split("\n");
      diff += `@@ -${line - 1},0 +${line + moved},${lines.length} @@\n`;
      diff += lines.map((each) => `+${each}\n`).join("");
      moved += lines.length;
      continue;
    }
    const end = text.indexOf("\n", at);
    const old = text.slice(start, end < 0 ? undefined : end);
    const now = `${text.slice(start, at)}${added}${text.slice(at, end < 0 ? undefined : end)}`;
    const lines = now.split("\n");
    // Names and annotations only: a line of a flow mapping may hold more than these.
    const shown = (each: string): string =>
      /\bdata\b|\bstringData\b/i.test(each) ? "(a line with data)" : each;
    diff += `@@ -${line},1 +${line + moved},${lines.length} @@\n-${shown(old)}\n`;
    diff += lines.map((each) => `+${shown(each)}\n`).join("");
    moved += lines.length - 1;
  }
  return diff;
}
