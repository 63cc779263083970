// What a rotation reads of Secrets beside what every command reads: since when they have their data, and
// marks of objects that are no copies.
import { isEmptyEntry } from "../../controller/model/secret-types.ts";
import { annotationKey, MANAGED_BY } from "../../controller/annotations/vocabulary.ts";
import type { CachedObject } from "../../controller/model/cluster.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import { dataManagers, valueTime } from "../../controller/observed/value-time.ts";
import { apiSeconds } from "../../inspect/requests/api-time.ts";
import type { ObservedObject } from "../holding/rotation-places.ts";

/** The source that the marks of an object name, whatever else it is. */
export type SourceMarks = Pick<ObservedObject, "markedSource" | "filledBy">;

export function sourceMarks(raw: unknown): SourceMarks {
  const annotations = stringsOf(objectOf(objectOf(raw).metadata).annotations);
  const markedSource = annotations[annotationKey("source")];
  // On a copy it says nothing more than `source` does.
  const filledBy =
    markedSource === undefined ? annotations[annotationKey("source-uid")] : undefined;
  return { markedSource, filledBy };
}

/** Keeps it for every object: which of them are evidence is known only afterwards. */
export class ObservedObjects {
  readonly #found = new WeakMap<CachedObject, ObservedObject>();

  readonly observe = (kept: CachedObject, raw: unknown): void => {
    const object = objectOf(raw);
    const entries = [object.data, object.binaryData].flatMap((field) =>
      Object.entries(stringsOf(field)),
    );
    const managers = dataManagers(objectOf(object.metadata).managedFields);
    this.#found.set(kept, {
      since: latestWrite(raw, entries.length),
      isImmutable: object.immutable === true,
      keys: new Set(entries.map(([key]) => key)),
      isEmpty: entries.every(([key, value]) => isEmptyEntry(stringOf(object.type), key, value)),
      isWrittenByUs: managers.some(({ manager }) => manager === MANAGED_BY),
      ...sourceMarks(raw),
    });
  };

  readonly of = (object: CachedObject): ObservedObject | undefined => this.#found.get(object);
}

/**
 * When the data was last changed, or earlier. An update of ours that only takes an entry away leaves no other
 * trace than our own time. Undefined where the record of any entry is missing.
 */
function latestWrite(raw: unknown, entries: number): number | undefined {
  const metadata = objectOf(objectOf(raw).metadata);
  const { notAfter } = valueTime(metadata, entries);
  const managers: readonly unknown[] = Array.isArray(metadata.managedFields)
    ? metadata.managedFields
    : [];
  const ours = managers.map(objectOf).filter(({ manager }) => manager === MANAGED_BY);
  // What we have cleared has our time alone.
  if (entries === 0 && ours.length > 0) return latest(ours.map(({ time }) => time));
  return latest([notAfter, ...ours.map(({ time }) => time)]);
}

function latest(given: readonly unknown[]): number | undefined {
  const times = given.map(apiSeconds);
  return times.includes(undefined) ? undefined : Math.max(...times.map((time) => time ?? 0));
}
