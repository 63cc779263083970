// The source list: from the data of a ConfigMap to its entries, by key and by the object that they name.
// Each entry is refused alone, but entries that name one object are all refused. An entry that was read
// before and is unchanged stays the same JavaScript object.
import { listed } from "../../text/listed.ts";
import { parseEntry, problemOf, refused, type ListEntry, type ListTerms } from "./list-entry.ts";
import type { ListedKind, ListedObject } from "./list-entry.ts";
import { refText, type Ref } from "../../text/names.ts";
import { invalid } from "../../text/result.ts";

export const MOST_LIST_ENTRIES = 1000;

export class SourceList {
  /** By key, as they are written. */
  readonly #parsed: ReadonlyMap<string, ListEntry>;
  readonly #byKey: ReadonlyMap<string, ListEntry>;
  readonly #byObject: ReadonlyMap<string, ListEntry>;

  constructor(parsed: ReadonlyMap<string, ListEntry> = new Map()) {
    this.#parsed = parsed;
    const judged = [...parsed.values()];
    const groups = Map.groupBy(judged, ({ object }) => object && objectKey(object));
    const byKey = new Map(parsed);
    const byObject = new Map<string, ListEntry>();
    for (const [key, entries] of groups) {
      if (key === undefined) continue;
      for (const entry of entries) {
        const one = entries.length === 1 ? entry : refusedOf(entry, entries);
        byKey.set(entry.key, one);
        // The first speaks for the object: all are refused alike.
        if (!byObject.has(key)) byObject.set(key, one);
      }
    }
    this.#byKey = byKey;
    this.#byObject = byObject;
  }

  get size(): number {
    return this.#byKey.size;
  }

  entries(): Iterable<ListEntry> {
    return this.#byKey.values();
  }

  get(key: string): ListEntry | undefined {
    return this.#byKey.get(key);
  }

  /** What makes this object a source, or would if it were not refused. */
  of(kind: ListedKind, { namespace, name }: Ref): ListEntry | undefined {
    return this.#byObject.get(objectKey({ kind, namespace, name }));
  }

  /** The entry `key` as it was read, if its text is unchanged. */
  parsed(key: string, text: string): ListEntry | undefined {
    const entry = this.#parsed.get(key);
    return entry?.text === text ? entry : undefined;
  }
}

export const NO_ENTRIES = new SourceList();

/** Yields between entries: none takes more than a few milliseconds. At most MOST_LIST_ENTRIES of them. */
export function* parseSourceList(
  data: Readonly<Record<string, string>>,
  terms: ListTerms,
  before: SourceList,
): Generator<undefined, SourceList> {
  const entries = new Map<string, ListEntry>();
  for (const key of Object.keys(data).toSorted()) {
    const text = data[key] ?? "";
    entries.set(key, before.parsed(key, text) ?? (yield* parseEntry(key, text, terms)));
    yield;
  }
  return new SourceList(entries);
}

/** The same in one go, for a caller that need not yield. */
export function sourceListOf(data: Readonly<Record<string, string>>, terms: ListTerms): SourceList {
  const steps = parseSourceList(data, terms, NO_ENTRIES);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const MOST_NAMED = 5;

function refusedOf(entry: ListEntry, all: readonly ListEntry[]): ListEntry {
  const { key, object } = entry;
  const named = all.slice(0, MOST_NAMED).map((each) => each.key);
  const keys = listed(named, MOST_NAMED, { count: all.length });
  const { fault } = invalid(
    object ? refText(object) : "",
    `one entry for an object: ${keys} name it`,
  );
  return refused(entry, [...entry.problems, problemOf(key, "", fault)]);
}

function objectKey({ kind, namespace, name }: ListedObject): string {
  return `${kind} ${namespace}/${name}`;
}
