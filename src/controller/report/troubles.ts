// What the outcomes of writes leave in trouble: places whose write failed, and places that another client keeps
// changing. Promises: a place fails until a write succeeds there or it is no longer wanted, so that a retry
// changes nothing. Between two repairs a copy is current, so a fight is over only after an hour without a repair
// and without a plan that showed it. Memory is one entry per such place.
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { Action } from "../model/actions.ts";
import { reasonText } from "../model/reasons.ts";
import { isPending, type Plan, type Row } from "../model/verdicts.ts";
import { FIGHT_OVER_MS, fightReason } from "../state/place-memory.ts";
import type { Fight } from "../state/planner-state.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Ref } from "../../text/names.ts";

/** A place in trouble. */
export type TroubledPlace = {
  readonly kind: ObjectKind;
  readonly place: Ref;
  readonly source: Ref;
  readonly pulling: boolean;
  /** In identifiers. */
  readonly reason: string;
  /** A value of the closed list of causes, of a write that failed. */
  readonly cause?: string | undefined;
  /** When it is tried again (ms, monotonic). Undefined while it is not waiting for that. */
  readonly dueAt: number | undefined;
};

export type FailingPlace = TroubledPlace & {
  readonly trouble: "failed";
  readonly cause: string;
  /** Its copy could not be removed: what the copy records about its source. */
  readonly removal?: CopiedFrom | undefined;
};

type CopiedFrom = {
  readonly sourceUid: string;
  /** Key of the source list entry that made the copy, if any. */
  readonly entry: string | undefined;
};

export type FoughtPlace = TroubledPlace & Pick<Fight, "altered"> & { readonly trouble: "fought" };

/** After these outcomes nothing is wrong at the place. */
const MENDED: ReadonlySet<Outcome["kind"]> = new Set(["done", "removed", "resolved", "leaving"]);

export function troubledBy({ kind: does, objectKind: kind, place, source }: Action) {
  return { kind, place, source, pulling: does === "fill" || does === "clear" };
}

export class Troubles {
  #failing = new Map<string, FailingPlace>();
  readonly #fights = new Map<string, { readonly fought: FoughtPlace; readonly seenMs: number }>();

  // A source that changes all the time has no plan that waits after a failure: each change is tried at once.
  onOutcome(outcome: Outcome): void {
    const { kind: became, action } = outcome;
    const of = troubledBy(action);
    const key = placeKey(of.kind, of.place);
    if (MENDED.has(became)) this.#failing.delete(key);
    if (became !== "failed" || action.kind === "liveGet") return;
    const { cause, reason } = outcome;
    const isRemoval = action.kind === "delete" || action.kind === "release";
    const { sourceUid = "", entry } = isRemoval ? action.target.template : {};
    const removal = isRemoval ? { sourceUid, entry } : this.#failing.get(key)?.removal;
    this.#failing.set(key, { trouble: "failed", ...of, cause, reason, dueAt: undefined, removal });
  }

  /** `began`: fights that were repaired since the last plan. `now`: ms, monotonic. */
  onPlan({ rows, states }: Plan, began: readonly Fight[], now: number): void {
    for (const fight of began) {
      const reason = reasonText(fightReason(fight.altered));
      const fought = { ...fight, trouble: "fought", reason, dueAt: undefined } as const;
      this.#fights.set(placeKey(fight.kind, fight.place), { fought, seenMs: now });
    }
    const before = this.#failing;
    if (before.size + this.#fights.size + states.failed === 0) return;
    this.#failing = new Map();
    for (const [key, { fought, seenMs }] of this.#fights)
      if (now - seenMs >= FIGHT_OVER_MS) this.#fights.delete(key);
      else if (fought.dueAt !== undefined)
        this.#fights.set(key, { fought: { ...fought, dueAt: undefined }, seenMs });
    for (const row of rows) {
      if (row.verdict !== "backoff" && !isPending(row.verdict)) continue;
      const key = placeKey(row.kind, row.place);
      const known = before.get(key);
      if (known && isPending(row.verdict)) this.#failing.set(key, { ...known, dueAt: undefined });
      if (row.verdict === "backoff") this.#backsOff(row, key, known?.removal, now);
    }
  }

  // A back-off without a cause is a fight.
  #backsOff(row: Row, key: string, removal: FailingPlace["removal"], now: number): void {
    const { kind, place, source, pulling, failure, dueAt } = row;
    const seen = { kind, place, source, pulling, reason: reasonText(row.reason), dueAt };
    const altered = this.#fights.get(key)?.fought.altered ?? false;
    if (failure?.cause === undefined)
      this.#fights.set(key, { fought: { trouble: "fought", ...seen, altered }, seenMs: now });
    else this.#failing.set(key, { trouble: "failed", ...seen, cause: failure.cause, removal });
  }

  get failing(): readonly FailingPlace[] {
    return [...this.#failing.values()];
  }

  get fights(): readonly FoughtPlace[] {
    return Array.from(this.#fights.values(), ({ fought }) => fought);
  }
}
