// Compares who would hold each credential by two sets of files: which namespaces a change gives the content of a
// source, and from which namespaces it takes it. Pure.
import type { GlobList } from "../../text/globs.ts";
import type { ItemObject } from "../../inspect/kubectl/listing.ts";
import type { ItemVerdict, PlanItem } from "./plan-items.ts";

/** A source that has other readers after the change. The object is the source. */
export type ReaderChange = ItemObject & {
  /** Namespaces, sorted. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Those of `gained` that no one has allowed. */
  readonly outside: readonly string[];
  /** The change makes an annotation of it invalid: no copy is made, and existing ones freeze. */
  readonly refused: boolean;
};

/** What the place holds when everything of a plan is done. */
const HOLDS: ReadonlySet<ItemVerdict> = new Set<ItemVerdict>([
  "create",
  "current",
  "update",
  "replace",
  "adopt",
]);

type Readers = ReadonlyMap<string, ReadonlySet<string>>;

/** `allowed`: namespaces that may become readers. The worst change is the first. */
export function readerChanges(
  base: readonly PlanItem[],
  next: readonly PlanItem[],
  allowed: GlobList | undefined,
): readonly ReaderChange[] {
  const [before, after] = [readersOf(base), readersOf(next)];
  const refused = new Set(next.filter(isRefused).map(keyOf));
  const known = new Set(base.filter(isRefused).map(keyOf));
  return [...new Set([...before.keys(), ...after.keys(), ...refused])]
    .map((key): ReaderChange => {
      const [old, now] = [before.get(key) ?? NOBODY, after.get(key) ?? NOBODY];
      const gained = [...now].filter((name) => !old.has(name)).toSorted();
      return {
        ...objectOf(key),
        gained,
        // The copies of a refused source stay where they are.
        lost: refused.has(key) ? [] : [...old].filter((name) => !now.has(name)).toSorted(),
        outside: gained.filter((name) => allowed?.matches(name) !== true),
        refused: refused.has(key) && !known.has(key),
      };
    })
    .filter(({ gained, lost, refused: isNew }) => gained.length + lost.length > 0 || isNew)
    .toSorted(worstFirst);
}

const NOBODY: ReadonlySet<string> = new Set();

function readersOf(items: readonly PlanItem[]): Readers {
  const readers = new Map<string, Set<string>>();
  for (const item of items) {
    if (!HOLDS.has(item.verdict)) continue;
    const key = keyOf(item);
    readers.set(key, (readers.get(key) ?? new Set()).add(item.namespace));
  }
  return readers;
}

function isRefused({ verdict }: PlanItem): boolean {
  return verdict === "refused";
}

function keyOf({ resource, source }: PlanItem): string {
  return `${resource} ${source}`;
}

function objectOf(key: string): ItemObject {
  const [resource = "", namespace = "", name = ""] = key.split(/[ /]/);
  return { resource, namespace, name };
}

function worstFirst(a: ReaderChange, b: ReaderChange): number {
  return (
    b.outside.length - a.outside.length ||
    b.gained.length - a.gained.length ||
    b.lost.length - a.lost.length ||
    (keyText(a) < keyText(b) ? -1 : 1)
  );
}

function keyText({ namespace, name, resource }: ItemObject): string {
  return `${namespace}/${name} ${resource}`;
}
