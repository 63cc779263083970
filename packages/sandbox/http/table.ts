// The tables that kubectl prints. The server defines columns and cells, so an unmodified kubectl prints
// what it prints on a cluster.
import { asObject, partial, textAt } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";
import { printedCell } from "../kinds/printer-columns.ts";
import { fromStored } from "../kinds/resources.ts";
import type { ServedResource } from "../kinds/resources.ts";

type Column = {
  readonly name: string;
  readonly cell: (object: StoredObject, now: number) => Json;
  /** 1: only with `-o wide`. */
  readonly priority?: number;
  /** Default: string. */
  readonly type?: string;
};

/** A column with the text at a path. */
const column = (title: string, path: string): Column => ({
  name: title,
  cell: (object) => textAt(object, path),
});

const name = column("Name", "metadata.name");
const age: Column = {
  name: "Age",
  cell: ({ metadata }, now) => since(metadata.creationTimestamp, now),
};

const columnsOf: Readonly<Record<string, readonly Column[]>> = {
  secrets: [name, column("Type", "type"), { name: "Data", cell: ({ data }) => size(data) }, age],
  namespaces: [name, column("Status", "status.phase"), age],
  configmaps: [
    name,
    { name: "Data", cell: ({ data, binaryData }) => size(data) + size(binaryData) },
    age,
  ],
  leases: [name, column("Holder", "spec.holderIdentity"), age],
  events: [
    { name: "Last Seen", cell: lastSeen },
    column("Type", "type"),
    column("Reason", "reason"),
    { name: "Object", cell: about },
    { ...column("Subobject", "involvedObject.fieldPath"), priority: 1 },
    { name: "Source", priority: 1, cell: source },
    { name: "Message", cell: (event) => textAt(event, "message").trim() },
    { name: "First Seen", priority: 1, cell: firstSeen },
    { name: "Count", priority: 1, cell: count },
    { ...name, priority: 1 },
  ],
};

export type TableOptions = {
  readonly now: number;
  /** What rows carry beside the cells: the parameter includeObject. */
  readonly include: "None" | "Metadata" | "Object";
  /** False for all but the first event of a watch. */
  readonly columns: boolean;
};

/** A Table of `objects` (in their stored form) with the list's metadata. */
export function table(
  resource: ServedResource,
  objects: readonly StoredObject[],
  metadata: JsonObject,
  options: TableOptions,
): JsonObject {
  const columns = columnsOf[resource.storage] ?? declaredColumns(resource) ?? [name, age];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.columns ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.now)),
      ...rowObject(resource, object, options.include),
    })),
  };
}

function declaredColumns({ printerColumns = [] }: ServedResource): readonly Column[] | undefined {
  if (printerColumns.length === 0) return undefined;
  const declared = printerColumns.map((column): Column => ({
    name: column.name,
    type: column.type,
    priority: column.priority,
    cell: (object, now) => printedCell(column, object, (time) => since(time, now)),
  }));
  return [name, ...declared];
}

function rowObject(
  resource: ServedResource,
  object: StoredObject,
  include: TableOptions["include"],
): JsonObject {
  if (include === "None") return { object: null };
  return { object: include === "Object" ? fromStored(resource, object) : partial(object) };
}

function definition(column: Column): JsonObject {
  return {
    name: column.name,
    type: column.type ?? "string",
    format: column.name === "Name" ? "name" : "",
    description: `${column.name} of the object`,
    priority: column.priority ?? 0,
  };
}

function size(value: Json | undefined): number {
  return Object.keys(asObject(value)).length;
}

function about(event: StoredObject): string {
  const kind = textAt(event, "involvedObject.kind").toLowerCase();
  return `${kind}/${textAt(event, "involvedObject.name")}`;
}

function source(event: StoredObject): string {
  const component = textAt(event, "source.component") || textAt(event, "reportingComponent");
  const host = textAt(event, "source.host") || textAt(event, "reportingInstance");
  return host === "" ? component : `${component}, ${host}`;
}

function count(event: StoredObject): number {
  const series = asObject(event["series"])["count"];
  const own = typeof series === "number" ? series : event["count"];
  return typeof own === "number" && own > 0 ? own : 1;
}

function firstSeen(event: StoredObject, now: number): string {
  return since(textAt(event, "firstTimestamp") || textAt(event, "eventTime"), now);
}

function lastSeen(event: StoredObject, now: number): string {
  const last = textAt(event, "series.lastObservedTime") || textAt(event, "lastTimestamp");
  return last === "" ? firstSeen(event, now) : since(last, now);
}

function since(time: string, now: number): string {
  return time === "" ? "<unknown>" : duration(now - Date.parse(time));
}

/** A duration as kubectl prints ages: two units for short ones, then one. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return pair(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(large: number, unit: string, small: number, part: string): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${part}`;
}
