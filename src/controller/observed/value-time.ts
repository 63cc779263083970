// When the value of an object was last changed, from its managedFields. Promises: an edit of a label or an
// annotation makes no value younger. What the API server does not record is a range, and never a guess.
//
// The API server keeps one time for each manager: that of the last change of any of its fields. So the value of
// an object is not younger than the newest manager of an entry of data. It can be older, if that manager also
// has other fields: then the creation of the object is the other end of the range.
import type { ValueTime } from "../model/cluster.ts";
import { objectOf, stringOf } from "../model/unstructured.ts";

/** One row of managedFields, as far as it is about data. */
export type DataManager = {
  readonly manager: string;
  readonly time: string;
  readonly keys: readonly string[];
  /** It has no field that is not an entry of data. */
  readonly onlyData: boolean;
};

// The write-only field of Secrets too: an apply records it under that name.
const DATA_FIELDS = ["f:data", "f:stringData", "f:binaryData"];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** As the API server bounds it. */
const LONGEST_MANAGER = 128;
/** The API server keeps about ten managers of updates, and one for each apply. */
const MOST_MANAGERS = 100;
/**
 * Rows that the API server makes of the fields of others: their time is that of the merge. An apply to an object
 * without managedFields makes the first, more than ten managers the second.
 */
const MERGED = new Set(["before-first-apply", "ancient-changes"]);

/** The rows that have entries of data. Rows without any are left out. */
export function dataManagers(managedFields: unknown): readonly DataManager[] {
  if (!Array.isArray(managedFields)) return [];
  const rows: readonly unknown[] = managedFields.slice(0, MOST_MANAGERS);
  return rows.flatMap((row) => {
    const { manager, time, fieldsV1, subresource } = objectOf(row);
    const fields: readonly [string, unknown][] = Object.entries(objectOf(fieldsV1));
    const keys = fields.flatMap(([field, within]) =>
      DATA_FIELDS.includes(field) ? entriesIn(within) : [],
    );
    if (keys.length === 0 || stringOf(subresource) !== "") return [];
    const onlyData = fields.every(([field]) => DATA_FIELDS.includes(field));
    const name = stringOf(manager).slice(0, LONGEST_MANAGER);
    return [{ manager: name, time: timeOf(time), keys, onlyData: onlyData && !MERGED.has(name) }];
  });
}

// `"."` is the map itself, which says nothing of its entries.
function entriesIn(field: unknown): readonly string[] {
  return Object.keys(objectOf(field)).flatMap((key) =>
    key.startsWith("f:") ? [key.slice(2)] : [],
  );
}

function timeOf(time: unknown): string {
  return TIME.test(stringOf(time)) ? stringOf(time) : "";
}

/** `entries`: how many entries of data the object has. */
export function valueTime(
  { creationTimestamp, managedFields }: { creationTimestamp?: unknown; managedFields?: unknown },
  entries: number,
): ValueTime {
  const created = timeOf(creationTimestamp);
  const managers = dataManagers(managedFields);
  const times = managers.filter(({ onlyData }) => onlyData).map(({ time }) => time);
  const earliest = [created, ...times].reduce(newer);
  const known = new Set(managers.flatMap(({ keys }) => keys)).size;
  const isWhole = !Array.isArray(managedFields) || managedFields.length <= MOST_MANAGERS;
  const isTimed = managers.every(({ time }) => time !== "");
  const isComplete = isWhole && isTimed && known > 0 && known >= entries;
  if (!isComplete) return { notBefore: earliest, notAfter: undefined, manager: undefined };
  const newest = managers.reduce((a, b) => (b.time >= a.time ? b : a));
  const notBefore = earliest < newest.time ? earliest : newest.time;
  return { notBefore, notAfter: newest.time, manager: newest.manager };
}

function newer(a: string, b: string): string {
  return a > b ? a : b;
}
