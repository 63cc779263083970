// What a cluster has recorded of an object: its creation, the last change of each field manager, and Events. Pure.
// Promises: nothing is inferred from the absence of a record, and what cannot be known is said.
import {
  annotationKey,
  MANAGED_BY_LABEL,
  PREFIX,
} from "../../controller/annotations/vocabulary.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import { dataManagers } from "../../controller/observed/value-time.ts";
import { listed } from "../../text/listed.ts";

export type Recorded = {
  /** RFC 3339. */
  readonly at: string;
  /** `Secret team-a/registry`. */
  readonly object: string;
  readonly kind: "created" | "deleting" | "changed" | "event";
  readonly record: string;
  /** The program that did or reported it, as it calls itself. */
  readonly by: string;
};

/** An object whose metadata were read. */
export type RecordedObject = {
  /** `Secret`, `Namespace`. */
  readonly kind: string;
  /** `team-a/registry`, or the name of a Namespace. */
  readonly name: string;
  readonly metadata: unknown;
  /** The only entry of its data that matters: that of a source list. */
  readonly entry?: string;
};

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const MOST_FIELDS = 6;
/** The API server allows 1,024 bytes in a note of its newer Events. */
const LONGEST_NOTE = 1024;

export function recordsOf(of: RecordedObject): readonly Recorded[] {
  const { managedFields, creationTimestamp, deletionTimestamp } = objectOf(of.metadata);
  const object = `${of.kind} ${of.name}`;
  const at = (time: unknown, rest: Omit<Recorded, "at" | "object">): readonly Recorded[] =>
    TIME.test(stringOf(time)) ? [{ at: stringOf(time), object, ...rest }] : [];
  const fields: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  return [
    ...at(creationTimestamp, { kind: "created", record: "created", by: "" }),
    ...at(deletionTimestamp, { kind: "deleting", record: "deletion requested", by: "" }),
    ...fields.flatMap((row) => {
      const { manager, time } = objectOf(row);
      const changed = fieldsOf(row, of);
      if (changed.length === 0) return [];
      const record = `last change of one of: ${listed(changed, MOST_FIELDS)}`;
      return at(time, { kind: "changed", record, by: stringOf(manager) });
    }),
  ];
}

/** The fields of a manager that can decide about a copy: data, our annotations, and labels where they select. */
function fieldsOf(row: unknown, { kind, entry }: RecordedObject): readonly string[] {
  const keys = dataManagers([row]).flatMap((manager) => manager.keys);
  const own = entry === undefined ? keys : keys.filter((key) => key === entry);
  const metadata = fieldOf(objectOf(row).fieldsV1, "f:metadata");
  const names = (field: string): readonly string[] =>
    Object.keys(objectOf(fieldOf(metadata, field))).flatMap((key) =>
      key.startsWith("f:") ? [key.slice(2)] : [],
    );
  const labels = names("f:labels").filter(
    (key) => kind === "Namespace" || key === MANAGED_BY_LABEL,
  );
  return [
    ...own.map((key) => `data ${key}`),
    ...names("f:annotations").filter((key) => key.startsWith(PREFIX)),
    ...labels.map((key) => `label ${key}`),
  ];
}

function fieldOf(value: unknown, name: string): unknown {
  const [, field] = Object.entries(objectOf(value)).find(([key]) => key === name) ?? [];
  return field;
}

/** An Event of events.k8s.io. */
export function recordOfEvent(raw: unknown, object: string): readonly Recorded[] {
  const event = Object.fromEntries(Object.entries(objectOf(raw)));
  const series = fieldOf(event["series"], "lastObservedTime");
  const times = [series, event["deprecatedLastTimestamp"], event["eventTime"]].map(stringOf);
  const at = times.find((time) => TIME.test(time));
  if (at === undefined) return [];
  const note = stringOf(event["note"]).slice(0, LONGEST_NOTE);
  const by =
    stringOf(event["reportingController"]) ||
    stringOf(fieldOf(event["deprecatedSource"], "component"));
  return [{ at, object, kind: "event", record: `Event ${stringOf(event["reason"])}: ${note}`, by }];
}

/** Of a copy or a pulling object: from which version of its source, and by which entry of which list. */
export function markText(metadata: unknown): string | undefined {
  const annotations = stringsOf(objectOf(metadata).annotations);
  const mark = (name: Parameters<typeof annotationKey>[0]): string =>
    annotations[annotationKey(name)] ?? "";
  const source = mark("source") || mark("from");
  if (source === "" || mark("source-uid") === "") return undefined;
  const version = mark("source-version") === "" ? "" : `, version ${mark("source-version")}`;
  const list = mark("list") === "" ? "" : ` of ${mark("list")}`;
  const entry = mark("entry") === "" ? "" : `, by entry ${mark("entry")}${list}`;
  return `written from ${source}${version}${entry}`;
}

/** Those since `from`, oldest first. Times differ in their digits, so they are compared by `timeOf`. */
export function recordsSince(
  all: readonly Recorded[],
  fromMs: number,
  timeOf: (at: string) => number,
): readonly Recorded[] {
  return all
    .filter(({ at }) => timeOf(at) >= fromMs)
    .toSorted((a, b) => timeOf(a.at) - timeOf(b.at));
}

export const NOT_RECORDED: readonly string[] = [
  "which user it was: managers are programs; the audit log of the API server names users",
  "earlier changes: managedFields have the last change of each manager, of any of its fields",
  "Events that were deleted, after 1h by default (--event-ttl of the API server), or dropped under load",
  "what happened to objects that no longer exist",
];
