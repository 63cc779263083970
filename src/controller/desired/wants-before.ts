// What each source wanted in the sync before, beside what it wants now: a copy at a place that its source wanted is
// the source's own, and nobody forged it. A source that is frozen keeps its row.
import type { Ref } from "../../text/names.ts";
import type { Candidate } from "./sources.ts";
import type { TargetNamespace } from "./targets.ts";

type Row = Pick<Candidate, "wanted" | "wantedTotal"> & {
  readonly copyName: string;
  /** The order of each namespace in `wanted`. */
  readonly orders: ReadonlyMap<string, number>;
};

export class WantsBefore {
  #before: ReadonlyMap<string, Row> = new Map();
  #now: ReadonlyMap<string, Row> = new Map();

  /** Runs once a sync, after noteWants. `frozen`: sources whose copies must not change now. */
  note(
    candidates: readonly Candidate[],
    targets: readonly TargetNamespace[],
    frozen: readonly string[],
  ): void {
    const orders = new Map(targets.map(({ name, order }) => [name, order]));
    const now = new Map<string, Row>();
    for (const text of frozen) {
      const row = this.#now.get(text);
      if (row) now.set(text, row);
    }
    for (const { text, source, wanted, wantedTotal } of candidates)
      now.set(text, { copyName: source.rule.copyName, wanted, wantedTotal, orders });
    this.#before = this.#now;
    this.#now = now;
  }

  /** How many places the source wants. */
  count(source: string): number {
    return this.#now.get(source)?.wantedTotal ?? 0;
  }

  /** How many it wanted in the sync before. */
  countBefore(source: string): number {
    return this.#before.get(source)?.wantedTotal ?? 0;
  }

  /** Whether it wanted its copy of this name there in the sync before. */
  wasWanted(source: string, { namespace, name }: Ref): boolean {
    const row = this.#before.get(source);
    const order = row?.copyName === name ? row.orders.get(namespace) : undefined;
    if (!row || order === undefined) return false;
    return (((row.wanted[order >> 5] ?? 0) >> (order & 31)) & 1) !== 0;
  }
}
