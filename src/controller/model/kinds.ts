// The kinds of objects that take part, one table each. Whatever is said or done differently for one of
// them is a field here: nothing else asks which kind it has. Kinds never meet at a place.
import { decodedLength } from "../../text/bounds.ts";
import { jsonSize } from "../../text/json-size.ts";
import { recordOf } from "../../text/key-filter.ts";
import { type Ref, refText } from "../../text/names.ts";
import { REFUSED_NAME_PREFIX, REFUSED_TYPES } from "../annotations/vocabulary.ts";
import { stringOf, stringsOf, type RawObject } from "./unstructured.ts";
import type { StringMap } from "../../text/string-map.ts";

/** The API's kind, which messages use too. */
export type ObjectKind = "Secret" | "ConfigMap";

/** A map of the object that holds entries. A key is in only one of them. */
type PayloadField = {
  readonly name: "data" | "binaryData";
  /** Before each value of this field, so that one map holds the entries of all fields. */
  readonly tag: string;
  readonly encoding: "base64" | "text";
};

export type KindRules = {
  readonly kind: ObjectKind;
  readonly resource: {
    readonly group: "";
    readonly version: "v1";
    readonly plural: string;
    readonly kind: ObjectKind;
  };
  readonly fields: readonly PayloadField[];
  /** undefined: objects of this kind have no type. */
  readonly types: { readonly byDefault: string; readonly refused: readonly string[] } | undefined;
  /** Beginning of the names under which none is a source, a copy or pulling. */
  readonly refusedPrefix: string;
  /** Names that something else gives to an object in every namespace: of no copy, and not pulling. */
  readonly everywhere: readonly string[];
  /**
   * Names under which an object is never a place, a source or pulling, in no namespace and whatever the
   * flags say: it configures the controller or the API server. undefined: no object of this kind does.
   */
  readonly reserved: readonly string[] | undefined;
  /** The only names that take part, by the flags, or undefined: all. */
  readonly onlyNames: ReadonlySet<string> | undefined;
  /** The type that no watch asks for, because none of it can take part, and how that is said. */
  readonly unwatchedType: string | undefined;
  readonly fieldSelector: string | undefined;
};

/** Parameters of our own admission policies. */
const ADMISSION_PARAMETERS: readonly string[] = ["secretcast-pull-secrets"];

export const KINDS: Readonly<Record<ObjectKind, KindRules>> = {
  Secret: {
    kind: "Secret",
    resource: { group: "", version: "v1", plural: "secrets", kind: "Secret" },
    fields: [{ name: "data", tag: "", encoding: "base64" }],
    types: { byDefault: "Opaque", refused: REFUSED_TYPES },
    refusedPrefix: REFUSED_NAME_PREFIX,
    everywhere: [],
    reserved: undefined,
    onlyNames: undefined,
    // The bulk of the Secrets of many clusters, never a source and never in the way of a copy that we
    // could make: their names begin with sh.helm.release.v1.
    unwatchedType: "helm.sh/release.v1",
    fieldSelector: "type!=helm.sh/release.v1",
  },
  ConfigMap: {
    kind: "ConfigMap",
    resource: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
    fields: [
      { name: "data", tag: "t", encoding: "text" },
      { name: "binaryData", tag: "b", encoding: "base64" },
    ],
    types: undefined,
    // Helm can be reported to keep its releases in ConfigMaps.
    refusedPrefix: REFUSED_NAME_PREFIX,
    everywhere: ["kube-root-ca.crt"],
    reserved: ADMISSION_PARAMETERS,
    onlyNames: undefined,
    unwatchedType: undefined,
    fieldSelector: undefined,
  },
};

export const OBJECT_KINDS: readonly ObjectKind[] = Object.values(KINDS).map(({ kind }) => kind);

/** Whether the watch shows it. Other objects must not be cached, because no event reports their deletion. */
export function isWatched({ unwatchedType }: KindRules, object: RawObject): boolean {
  return unwatchedType === undefined || object["type"] !== unwatchedType;
}

/** The table of a kind as these settings make it. */
export function rulesOf(
  kind: ObjectKind,
  {
    sourceList,
    onlyNames,
  }: {
    readonly sourceList: string | undefined;
    readonly onlyNames?: ReadonlySet<string> | undefined;
  },
): KindRules {
  const rules = { ...KINDS[kind], onlyNames };
  const { reserved } = rules;
  return reserved === undefined || sourceList === undefined
    ? rules
    : { ...rules, reserved: [...reserved, sourceList] };
}

/** A place or a source among those of all kinds: how they are reported apart in maps. */
export function placeKey(kind: ObjectKind, place: Ref): string {
  return `${kind} ${refText(place)}`;
}

/** "": objects of this kind have none. */
export function typeOf({ types }: KindRules, { type }: RawObject): string {
  return types ? stringOf(type) || types.byDefault : "";
}

/** All entries of an object in one map: each under its key, with the tag of its field before it. */
export function entriesOf({ fields }: KindRules, object: RawObject): StringMap {
  const [only, ...others] = fields;
  if (only?.tag === "" && others.length === 0) return stringsOf(object[only.name]);
  return recordOf(
    fields.flatMap(({ name, tag }) =>
      Object.entries(stringsOf(object[name])).map(([key, value]) => [key, tag + value] as const),
    ),
  );
}

/** The maps of the object for these entries. Each map is present, perhaps empty. */
export function payloadFields(
  { fields }: KindRules,
  entries: StringMap,
): Readonly<Record<string, StringMap>> {
  const [only, ...others] = fields;
  if (only?.tag === "" && others.length === 0) return { [only.name]: entries };
  return Object.fromEntries(
    fields.map(({ name, tag }) => [
      name,
      recordOf(
        Object.entries(entries).flatMap(([key, value]) =>
          value.startsWith(tag) ? [[key, value.slice(tag.length)] as const] : [],
        ),
      ),
    ]),
  );
}

/** Bytes that an entry has for the API server, which counts values alone. */
export function entryBytes({ fields }: KindRules, entry: string): number {
  const field = fields.find(({ tag }) => entry.startsWith(tag));
  if (!field) return 0;
  const value = entry.slice(field.tag.length);
  return field.encoding === "base64" ? decodedLength(value) : Buffer.byteLength(value);
}

/** Bytes of an entry's value in the JSON of the API server. */
export function entryJsonSize({ fields }: KindRules, entry: string): number {
  const field = fields.find(({ tag }) => entry.startsWith(tag));
  if (!field) return 0;
  const length = entry.length - field.tag.length;
  return field.encoding === "base64" ? length : jsonSize(entry.slice(field.tag.length));
}

/** Bytes that an entry takes in memory at most: base64 one a character, other texts two. */
export function entryMemory({ fields }: KindRules, entry: string): number {
  const encoding = fields.find(({ tag }) => entry.startsWith(tag))?.encoding;
  return encoding === "base64" ? entry.length : 2 * entry.length;
}
