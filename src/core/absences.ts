// Since when each vanished source has been absent, and what a live GET said about it. Kept under the
// source's place and UID, because a new Secret under an old name is another source. No clock: `now`
// is milliseconds of a monotonic clock. What no pass asks for any more is forgotten, so a source that
// comes back starts anew when it goes again.
import { refText } from "./model.ts";
import { backoffMs } from "./pairs.ts";
import type { Confirm } from "./verdicts.ts";

export type Absence = {
  readonly since: number;
  /** A live GET said 404 or another UID. */
  readonly confirmed: boolean;
  /** A live GET was refused: no deletes before this time, and then it is asked again. */
  readonly unreadable:
    | { readonly until: number; readonly reason: string; readonly attempts: number }
    | undefined;
};

export class Absences {
  readonly #known = new Map<string, Absence>();
  #asked = new Set<string>();

  /** The absence of this source, noted from now on if it is new. */
  of(source: Confirm, now: number): Absence {
    const key = absenceKey(source);
    this.#asked.add(key);
    const known = this.#known.get(key);
    if (known) return known;
    const absence = { since: now, confirmed: false, unreadable: undefined };
    this.#known.set(key, absence);
    return absence;
  }

  confirmedGone(source: Confirm, now: number): void {
    const { since } = this.of(source, now);
    this.#known.set(absenceKey(source), { since, confirmed: true, unreadable: undefined });
  }

  /** The cache was behind: the source is there, and its absence has not begun. */
  stillThere(source: Confirm): void {
    this.#known.delete(absenceKey(source));
  }

  unreadable(source: Confirm, reason: string, now: number, chance: number): void {
    const before = this.of(source, now);
    const attempts = (before.unreadable?.attempts ?? 0) + 1;
    const unreadable = { until: now + backoffMs(attempts, chance), reason, attempts };
    this.#known.set(absenceKey(source), { since: before.since, confirmed: false, unreadable });
  }

  beginPass(): void {
    this.#asked = new Set();
  }

  endPass(): void {
    for (const key of this.#known.keys()) {
      if (!this.#asked.has(key)) this.#known.delete(key);
    }
  }
}

export function absenceKey(source: Confirm): string {
  return `${refText(source.source)} ${source.uid}`;
}
