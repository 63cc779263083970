// One entry of the source list: a YAML mapping that names an object and says of it what the annotations
// of a source say, each field without the prefix. Total: any text gives an entry, or the Problems that
// refuse it, in a bounded time. A text that is no entry is never repeated in a message: it may have
// been meant for another place.
import { isNameRead, nameExpected } from "./name-scope.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import { parseSource, type SourceText } from "./parse.ts";
import { invalid, ok, type Invalid } from "../../text/result.ts";
import { parseMapping } from "../../text/yaml-mapping.ts";
import type { Problem } from "./rules.ts";
import {
  annotationKey,
  LIST_ANNOTATIONS,
  PREFIX,
  REFUSED_NAME_PREFIX,
  SOURCE_ANNOTATIONS,
  TARGET_ANNOTATIONS,
} from "./vocabulary.ts";

export type ListedKind = "Secret" | "ConfigMap";
export type ListedObject = Ref & { readonly kind: ListedKind };

export type ListEntry = {
  readonly key: string;
  /** As it is written. */
  readonly text: string;
  /** undefined where it names none. */
  readonly object: ListedObject | undefined;
  /** The list that contains it: "NAMESPACE/NAME". */
  readonly list: string;
  /** What it says, or nothing where it is refused. */
  readonly source: SourceText;
  /** Not empty: refused. */
  readonly problems: readonly Problem[];
};

export type ListTerms = {
  /** Where the list itself is. */
  readonly list: Ref;
  /** The kinds that take part. */
  readonly kinds: readonly ListedKind[];
  /** Names of ConfigMaps that are no sources, the list's own apart. */
  readonly reserved?: readonly string[] | undefined;
  /** The only object names that take part, or undefined: all. */
  readonly onlyNames?: ReadonlySet<string> | undefined;
};

const FORM = "a YAML mapping, such as secret: NAMESPACE/NAME and a line with to:";

/** The field of an entry for an object of each kind. */
export const OBJECT_FIELDS: Readonly<Record<string, ListedKind>> = {
  secret: "Secret",
  configMap: "ConfigMap",
};
const LIST_FIELDS: ReadonlySet<string> = new Set(LIST_ANNOTATIONS);
const ONE_OF_THESE = `one of ${[...Object.keys(OBJECT_FIELDS), ...SOURCE_ANNOTATIONS].join(", ")}`;

const NO_ANNOTATIONS: SourceText = parseSource({}, "");

/** Yields once, between reading the YAML and its fields. */
export function* parseEntry(
  key: string,
  text: string,
  terms: ListTerms,
): Generator<undefined, ListEntry> {
  const parsed = parseMapping(text, FORM);
  yield;
  const list = refText(terms.list);
  if (!parsed.ok)
    return refused({ key, text, list, object: undefined }, [problemOf(key, "", parsed.fault)]);
  const mapping = parsed.value;
  const problems: Problem[] = [];
  const annotations: Record<string, string> = {};
  const objects: ListedObject[] = [];
  for (const [field, value] of mapping) {
    const found = read(field, value, terms);
    if ("expected" in found) problems.push(problemOf(key, found.field, found));
    else if ("kind" in found) objects.push(found);
    else annotations[annotationKey(found.field)] = found.text;
  }
  const [object] = objects;
  if (mapping.has("secret") === mapping.has("configMap")) {
    const { fault } = invalid(objects.map(refText).join(" "), "one of secret, configMap");
    problems.push(problemOf(key, "", fault));
  }
  if (!TARGET_ANNOTATIONS.some((field) => mapping.has(field))) {
    const { fault } = invalid("", `one of ${TARGET_ANNOTATIONS.join(", ")}`);
    problems.push(problemOf(key, "", fault));
  }
  const only = objects.length === 1 ? object : undefined;
  const source = parseSource(annotations, only?.name ?? "");
  problems.push(...source.problems.map((problem) => entryProblem(key, problem)));
  if (problems.length > 0)
    return refused({ key, text, list, object: only }, problems.slice(0, MOST_PROBLEMS));
  return { key, text, list, object: only, source, problems };
}

const MOST_PROBLEMS = 5;

export function refused(
  { key, text, list, object }: Omit<ListEntry, "source" | "problems">,
  problems: readonly Problem[],
): ListEntry {
  return { key, text, list, object, source: NO_ANNOTATIONS, problems };
}

/** `field`: the field of the entry that is at fault, or "" where it is the entry itself. */
export function problemOf(key: string, field: string, { part, expected }: Invalid): Problem {
  return { annotation: fieldText(key, field), part, expected };
}

/** The fields of an entry as text, each on its own line, or undefined if this text is no entry. */
export function entryText(
  object: ListedObject,
  fields: Readonly<Record<string, string | undefined>>,
  before = "",
): string | undefined {
  const mapping = before === "" ? ok(new Map<unknown, unknown>()) : parseMapping(before, FORM);
  if (!mapping.ok) return undefined;
  const field = Object.entries(OBJECT_FIELDS).find(([, kind]) => kind === object.kind)?.[0] ?? "";
  const all = new Map<unknown, unknown>([[field, refText(object)], ...mapping.value]);
  for (const [name, value] of Object.entries(fields))
    if (value === undefined) all.delete(name);
    else all.set(name, value);
  return Array.from(all, ([name, value]) => `${String(name)}: ${JSON.stringify(value)}\n`).join("");
}

function fieldText(key: string, field: string): string {
  return field === "" ? `entry ${key}` : `entry ${key}: ${field}`;
}

/** The fault of an annotation, reported as that of an entry's field. */
export function entryProblem(key: string, { annotation, part, expected }: Problem): Problem {
  const field = annotation.startsWith(PREFIX) ? annotation.slice(PREFIX.length) : annotation;
  const inEntry = expected.replaceAll("no such annotation", "no such field").replaceAll(PREFIX, "");
  return { annotation: fieldText(key, field), part, expected: inEntry };
}

type ReadField =
  | ListedObject
  | { readonly field: (typeof SOURCE_ANNOTATIONS)[number]; readonly text: string }
  | (Invalid & { readonly field: string });

function read(key: unknown, value: unknown, terms: ListTerms): ReadField {
  const field = typeof key === "string" ? key : "";
  const fault = (part: string, expected: string): ReadField => ({
    field: known(field) ? field : "",
    ...invalid(part, expected).fault,
  });
  if (!known(field)) return fault(field, ONE_OF_THESE);
  const text = textOf(value, LIST_FIELDS.has(field));
  if (text === undefined) {
    return fault("", LIST_FIELDS.has(field) ? "a text, or a list of texts" : "one text, no list");
  }
  const source = SOURCE_ANNOTATIONS.find((each) => each === field);
  if (source) return { field: source, text };
  const kind = OBJECT_FIELDS[field] ?? "Secret";
  const ref = parseRef(text.trim());
  if (!ref) return fault(text, `NAMESPACE/NAME of a ${kind}`);
  if (!terms.kinds.includes(kind)) {
    return fault(text, `a Secret: ${kind}s take part with --config-maps alone`);
  }
  const { list, reserved = [] } = terms;
  if (kind === "ConfigMap" && [list.name, ...reserved].includes(ref.name)) {
    return fault(text, "another ConfigMap: one called so tells secretcast what to do");
  }
  if (kind === "Secret" && ref.name.startsWith(REFUSED_NAME_PREFIX)) {
    return fault(text, "another Secret: those called so are Helm's");
  }
  const { onlyNames } = terms;
  if (onlyNames && !isNameRead(onlyNames, ref.name))
    return fault(text, nameExpected(onlyNames, ref.name));
  return { kind, ...ref };
}

function known(field: string): boolean {
  return Object.hasOwn(OBJECT_FIELDS, field) || SOURCE_ANNOTATIONS.some((each) => each === field);
}

function textOf(value: unknown, mayBeList: boolean): string | undefined {
  if (typeof value === "string") return value;
  if (!mayBeList || !Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const texts = items.filter((item) => typeof item === "string");
  return texts.length === items.length ? texts.join(",") : undefined;
}
