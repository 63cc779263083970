// What a cluster has recorded of an object: its creation, the last change of each field manager, and Events.
// Promises: nothing is inferred from the absence of a record, and what cannot be known is said.
import {
  annotationKey,
  MANAGED_BY_LABEL,
  PREFIX,
  type AnnotationName,
} from "../../controller/annotations/vocabulary.ts";
import { stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import { dataManagers } from "../../controller/observed/value-time.ts";
import { isoTime } from "../../controller/settings/due-text.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "../../inspect/requests/fields.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";
import { listed } from "../../text/listed.ts";
import { printable } from "../../text/printable.ts";

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

export type Records = {
  readonly fromMs: number;
  /** Oldest first. */
  readonly records: readonly Recorded[];
  /** What the marks of the object say, if it is a copy. */
  readonly mark: string | undefined;
  /** What could not be read. */
  readonly unknown: readonly string[];
};

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const MOST_FIELDS = 6;
/** The API server allows 1,024 bytes in a note of its newer Events. */
const LONGEST_NOTE = 1024;

/** `object`: its kind and name. `entry`: the only entry of its data that matters, that of a source list. */
export function recordsOf(
  object: string,
  metadata: AnswerFields,
  entry: string | undefined,
): readonly Recorded[] {
  const { creationTimestamp, deletionTimestamp, managedFields } = metadata;
  const changes = recordsIn(managedFields).flatMap((row) => {
    const changed = fieldsOf(row, object, entry);
    if (changed.length === 0) return [];
    const record = `last change of one of: ${listed(changed, MOST_FIELDS)}`;
    return [{ time: row["time"], kind: "changed", record, by: stringOf(row["manager"]) } as const];
  });
  return [
    { time: creationTimestamp, kind: "created", record: "created", by: "" } as const,
    { time: deletionTimestamp, kind: "deleting", record: "deletion requested", by: "" } as const,
    ...changes,
  ].flatMap(({ time, ...rest }) => {
    const at = stringOf(time);
    return TIME.test(at) ? [{ at, object, ...rest }] : [];
  });
}

/** The fields of a manager that can decide about a copy: data, our annotations, and labels where they select. */
function fieldsOf(row: AnswerFields, object: string, entry: string | undefined): readonly string[] {
  const keys = dataManagers([row]).flatMap((manager) => manager.keys);
  const metadata = fieldsIn(fieldsIn(row["fieldsV1"])["f:metadata"]);
  const names = (field: string): readonly string[] =>
    Object.keys(fieldsIn(metadata[field])).flatMap((key) =>
      key.startsWith("f:") ? [key.slice(2)] : [],
    );
  const labels = names("f:labels").filter(
    (key) => object.startsWith("Namespace ") || key === MANAGED_BY_LABEL,
  );
  return [
    ...keys.filter((key) => entry === undefined || key === entry).map((key) => `data ${key}`),
    ...names("f:annotations").filter((key) => key.startsWith(PREFIX)),
    ...labels.map((key) => `label ${key}`),
  ];
}

/** An Event of events.k8s.io. */
export function recordOfEvent(raw: unknown, object: string): readonly Recorded[] {
  const event = fieldsIn(raw);
  const series = fieldsIn(event["series"])["lastObservedTime"];
  const times = [series, event["deprecatedLastTimestamp"], event["eventTime"]].map(stringOf);
  const at = times.find((time) => TIME.test(time));
  if (at === undefined) return [];
  const record = `Event ${stringOf(event["reason"])}: ${stringOf(event["note"]).slice(0, LONGEST_NOTE)}`;
  const by =
    stringOf(event["reportingController"]) ||
    stringOf(fieldsIn(event["deprecatedSource"])["component"]);
  return [{ at, object, kind: "event", record, by }];
}

/** Of a copy or a pulling object: from which version of its source, and by which entry of which list. */
export function markText(metadata: AnswerFields): string | undefined {
  const annotations = stringsOf(metadata["annotations"]);
  const mark = (name: AnnotationName): string => annotations[annotationKey(name)] ?? "";
  const source = mark("source") || mark("from");
  if (source === "" || mark("source-uid") === "") return undefined;
  const version = mark("source-version") === "" ? "" : `, version ${mark("source-version")}`;
  const list = mark("list") === "" ? "" : ` of ${mark("list")}`;
  const entry = mark("entry") === "" ? "" : `, by entry ${mark("entry")}${list}`;
  return `written from ${source}${version}${entry}`;
}

export const NOT_RECORDED: readonly string[] = [
  "which user it was: managers are programs; the audit log of the API server names users",
  "earlier changes: managedFields have the last change of each manager, of any of its fields",
  "Events that were deleted, after 1h by default (--event-ttl of the API server), or dropped under load",
  "what happened to objects that no longer exist",
];

const COLUMNS: readonly Column<Recorded>[] = [
  { header: "TIME", cell: ({ at }) => withoutFraction(at) },
  { header: "OBJECT", cell: ({ object }) => object },
  { header: "BY", cell: ({ by }) => by },
  { header: "RECORD", cell: ({ record }) => record },
];

/** A table by time, then what cannot be known. */
export function* recordLines(
  { records, mark, fromMs }: Records,
  flags: Pick<KubectlFlags, "headers" | "output">,
  program: Pick<Program, "env" | "stdout">,
): Generator<string> {
  yield "\n";
  if (mark !== undefined) yield `Its marks: ${printable(mark)}\n`;
  const since = withoutFraction(isoTime(fromMs));
  yield records.length === 0
    ? `Nothing is recorded since ${since}\n`
    : `Recorded since ${since}:\n`;
  yield* tableLines(records, COLUMNS, flags, painter(program));
  yield "\nNot recorded in the cluster:\n";
  for (const line of NOT_RECORDED) yield `  ${line}\n`;
}

function withoutFraction(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}
