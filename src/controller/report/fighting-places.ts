// Places that another client keeps changing, or where a webhook or policy alters what is written. Between two
// repairs such a copy is current. A fight is therefore over only after ten minutes in which no plan showed it.
// Promise: it holds one entry per such place.
import type { Fight } from "../state/planner-state.ts";
import type { Plan, Row } from "../model/verdicts.ts";
import { placeKey } from "../model/kinds.ts";

/** The longest wait between two repairs is five minutes. */
export const FIGHT_OVER_MS = 10 * 60_000;

/** Whether the row is a fight. Every other back-off has a cause. */
export function isFought({ verdict, cause }: Row): boolean {
  return verdict === "backoff" && cause === undefined;
}

export class FightingPlaces {
  readonly #seen = new Map<string, { readonly fight: Fight; seenMs: number }>();

  /** `began`: fights since the last plan. `now`: ms, monotonic. */
  onPlan({ rows }: Plan, began: readonly Fight[], now: number): void {
    for (const fight of began)
      this.#seen.set(placeKey(fight.kind, fight.place), { fight, seenMs: now });
    if (this.#seen.size === 0) return;
    for (const row of rows) {
      const known = isFought(row) ? this.#seen.get(placeKey(row.kind, row.place)) : undefined;
      if (known) known.seenMs = now;
    }
    for (const [key, { seenMs }] of this.#seen)
      if (now - seenMs >= FIGHT_OVER_MS) this.#seen.delete(key);
  }

  /** Fights over pulling objects. */
  get pulls(): readonly Fight[] {
    return this.#fights().filter(({ pulling }) => pulling);
  }

  /** Fights over copies, by source (placeKey). */
  bySource(): ReadonlyMap<string, readonly Fight[]> {
    const copies = this.#fights().filter(({ pulling }) => !pulling);
    return Map.groupBy(copies, ({ kind, source }) => placeKey(kind, source));
  }

  #fights(): readonly Fight[] {
    return Array.from(this.#seen.values(), ({ fight }) => fight);
  }
}
