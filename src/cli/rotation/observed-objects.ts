// What a rotation reads of Secrets beside what every command reads: since when they have their data, and
// marks of objects that are no copies.
import { annotationKey, MANAGED_BY } from "../../controller/annotations/vocabulary.ts";
import type { CachedObject } from "../../controller/model/cluster.ts";
import { objectOf, stringsOf } from "../../controller/model/unstructured.ts";
import { valueTime } from "../../controller/observed/value-time.ts";
import { apiSeconds } from "../../inspect/requests/api-time.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { ObservedObject } from "../holding/rotation-places.ts";

/** The source that the marks of an object name, whatever else it is. */
export type SourceMarks = Pick<ObservedObject, "markedSource" | "filledBy">;

export function sourceMarks(raw: unknown): SourceMarks {
  const annotations = stringsOf(objectOf(objectOf(raw).metadata).annotations);
  const isFilled = (annotations[annotationKey("pulled-keys")] ?? "") !== "";
  return {
    markedSource: annotations[annotationKey("source")],
    filledBy: isFilled ? annotations[annotationKey("source-uid")] : undefined,
  };
}

/** Keeps it for the source, for the objects that name it, and for those that some source filled. */
export class ObservedObjects {
  readonly #source: string;
  readonly #found = new WeakMap<CachedObject, ObservedObject>();

  constructor(source: Ref) {
    this.#source = refText(source);
  }

  readonly observe = (kept: CachedObject, raw: unknown): void => {
    const object = objectOf(raw);
    const marks = sourceMarks(raw);
    const isNamed = marks.markedSource === this.#source || marks.filledBy !== undefined;
    if (!isNamed && kept.role !== "pull" && refText(kept) !== this.#source) return;
    const isImmutable = object.immutable === true;
    this.#found.set(kept, { since: latestWrite(raw), isImmutable, ...marks });
  };

  readonly of = (object: CachedObject): ObservedObject | undefined => this.#found.get(object);
}

/**
 * When the data was last changed, or earlier. An update of ours that only takes an entry away leaves no other
 * trace than our own time. Undefined where the record of any entry is missing.
 */
function latestWrite(raw: unknown): number | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const entries = [object.data, object.binaryData].flatMap((field) =>
    Object.keys(stringsOf(field)),
  );
  const { notAfter } = valueTime(metadata, entries.length);
  const managers: readonly unknown[] = Array.isArray(metadata.managedFields)
    ? metadata.managedFields
    : [];
  const ours = managers.map(objectOf).filter(({ manager }) => manager === MANAGED_BY);
  const times = [notAfter, ...ours.map(({ time }) => time)].map(apiSeconds);
  return times.includes(undefined) ? undefined : Math.max(...times.map((time) => time ?? 0));
}
