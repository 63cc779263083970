// What edits take from each source in one sync: how many copies, and how many are left. An edit that leaves
// a source without any copy, or takes more than half of them, could be a mistake. Copies count at places
// that the source wanted before, so forged copies do not add to the count. After a restart, copies that the
// first sync found unwanted count too, one for each namespace. What is left are wanted places, whatever is
// there, so nobody changes it by deleting or blocking a copy.
import type { RemovalHoldCause } from "../model/verdicts.ts";
import type { WantsBefore } from "../desired/wants-before.ts";
import type { RecentRemovals } from "../state/recent-removals.ts";

const FEWEST_OF_HALF = 3;

type Edit = {
  known: number;
  readonly foundIn: Set<string>;
  /** Namespaces that the source wants, and that stopped accepting it: they are no part of the edit. */
  declined: number;
};

export class EditedSources {
  readonly #edits = new Map<string, Edit>();
  readonly #kept = new Map<string, number>();
  readonly #holds = new Map<string, RemovalHoldCause>();

  /** An existing copy that its namespace keeps, although it accepts nothing new. */
  kept(source: string): void {
    this.#kept.set(source, (this.#kept.get(source) ?? 0) + 1);
  }

  declined(source: string): void {
    this.#of(source).declined++;
  }

  /** `wasWanted`: in the sync before. `found`: by the first sync of this process. */
  removed(source: string, namespace: string, wasWanted: boolean, found: boolean): void {
    const edit = this.#of(source);
    if (wasWanted) edit.known++;
    else if (found) edit.foundIn.add(namespace);
  }

  /** Runs once, after all copies are judged. Returns the copies that each edited source had before. */
  settle(
    wants: WantsBefore,
    recent: RecentRemovals,
    editedFrom: ReadonlyMap<string, number>,
    keyOf: (source: string) => string,
  ): ReadonlyMap<string, number> {
    const next = new Map<string, number>();
    for (const [source, edit] of this.#edits) {
      const made = recent.ofSource(keyOf(source));
      const removed = edit.known + edit.foundIn.size + made;
      const left = this.#left(wants, source) + edit.declined;
      const before =
        editedFrom.get(source) ?? Math.max(wants.countBefore(source), edit.foundIn.size + left);
      if (edit.known + edit.foundIn.size > 0) next.set(source, before);
      if (left === 0) this.#holds.set(source, "nowhere");
      else if (removed >= FEWEST_OF_HALF && removed * 2 > before) this.#holds.set(source, "half");
    }
    for (const [source, before] of editedFrom)
      if (!next.has(source) && recent.ofSource(keyOf(source)) > 0) next.set(source, before);
    return next;
  }

  /** After settle: why a copy that this source does not want is held. */
  holdOf(source: string): RemovalHoldCause | undefined {
    return this.#holds.get(source);
  }

  /** Whether an edit took copies from a source that now wants no place. */
  isEmptied(wants: WantsBefore, source: string, wasEmptied: boolean): boolean {
    if (this.#left(wants, source) > 0) return false;
    const edit = this.#edits.get(source);
    return wasEmptied || (edit !== undefined && edit.known + edit.foundIn.size > 0);
  }

  #left(wants: WantsBefore, source: string): number {
    return wants.count(source) + (this.#kept.get(source) ?? 0);
  }

  #of(source: string): Edit {
    const known = this.#edits.get(source);
    if (known) return known;
    const edit: Edit = { known: 0, foundIn: new Set(), declined: 0 };
    this.#edits.set(source, edit);
    return edit;
  }
}
