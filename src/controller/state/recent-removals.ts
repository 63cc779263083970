// The removals made within the last hold: how many, of which sources and in which namespaces. A mistake
// that is made in small steps shows only in earlier removals. The window is rolling: an expired removal is
// subtracted once and skipped by an index, so a million entries cost a million steps. No clock: `now`
// is milliseconds of a monotonic clock.
import type { CountedRemoval, SourceAbsence } from "../model/actions.ts";

/** Removals of one deleted source, without those that the users of the copies' namespaces control. */
export type OfVanished = { readonly absence: SourceAbsence; readonly count: number };

type Made = CountedRemoval & { readonly at: number };

/** The account of what counts in the whole cluster. */
export const EVERYWHERE = "";

/** So many outdated entries are kept before the list is copied. */
const MOST_OUTDATED = 1024;

export class RecentRemovals {
  #made: Made[] = [];
  /** Index of the oldest that still counts. */
  #first = 0;
  readonly #byAccount = new Map<string, number>();
  readonly #byPublisher = new Map<string, number>();
  readonly #bySource = new Map<string, number>();
  readonly #byVanished = new Map<string, OfVanished>();

  /** By namespace: removals that count in that namespace alone. EVERYWHERE: in the whole cluster. */
  get byAccount(): ReadonlyMap<string, number> {
    return this.#byAccount;
  }

  /** By namespace of the source: removals that count there, because every namespace may publish. */
  get byPublisher(): ReadonlyMap<string, number> {
    return this.#byPublisher;
  }

  get size(): number {
    return this.#made.length - this.#first;
  }

  /** Entries in memory, outdated ones too. */
  get kept(): number {
    return this.#made.length;
  }

  /** Copies of this source that an edit removed. */
  ofSource(source: string): number {
    return this.#bySource.get(source) ?? 0;
  }

  /** The removals of deleted sources, by key. */
  get ofVanished(): ReadonlyMap<string, OfVanished> {
    return this.#byVanished;
  }

  add(removal: CountedRemoval, now: number): void {
    this.#made.push({ ...removal, at: now });
    this.#count(removal, 1);
  }

  /** Forgets what was made before `since`. */
  forget(since: number): void {
    for (;;) {
      const oldest = this.#made[this.#first];
      if (!oldest || oldest.at >= since) break;
      this.#count(oldest, -1);
      this.#first++;
    }
    if (this.#first <= MOST_OUTDATED || this.#first * 2 < this.#made.length) return;
    this.#made = this.#made.slice(this.#first);
    this.#first = 0;
  }

  #count({ namespace, source, countedAs, byEdit, vanished }: CountedRemoval, by: 1 | -1): void {
    change(this.#byAccount, countedAs === "everywhere" ? EVERYWHERE : namespace, by);
    if (countedAs === "namespace") return;
    if (countedAs === "publisher") change(this.#byPublisher, namespace, by);
    if (byEdit) change(this.#bySource, source, by);
    if (!vanished) return;
    const { absence = vanished, count = 0 } = this.#byVanished.get(vanished.key) ?? {};
    if (count + by === 0) this.#byVanished.delete(vanished.key);
    else this.#byVanished.set(vanished.key, { absence, count: count + by });
  }
}

/** A count of 0 is left out. */
export function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
