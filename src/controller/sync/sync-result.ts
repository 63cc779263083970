// What a sync leaves behind.
import { isPending, type Plan, type Row } from "../model/verdicts.ts";

export type SyncResult = {
  readonly settled: boolean;
  /** Milliseconds until something becomes due without any event. */
  readonly dueMs: number | undefined;
  /** Something is pending and may change its state without any action. */
  readonly waiting: boolean;
  /** Everything that is wanted is there. */
  readonly ok: boolean;
  /** Places that are wanted or hold a copy. */
  readonly places: number;
  /** Writes that were made since the process began. */
  readonly written: number;
  readonly planMs: number;
  /** CPU time of the thread meanwhile. */
  readonly planCpuMs: number;
};

/** Whether the row becomes due within a moment. Removals that wait and retries of failed writes do not. */
function isUnderWay({ verdict, dueAt, removal }: Row): boolean {
  return dueAt !== undefined && isPending(verdict) && removal === undefined;
}

/** Every place is as its source wants it, or as its owner wants it if it is paused. No source is refused. */
export function isAllCurrent({ states, sources, list }: Plan): boolean {
  const { current: _, paused: __, ...others } = states;
  return (
    Object.values(others).every((count) => count === 0) &&
    sources.every(({ state }) => state === "ok") &&
    list.state !== "unread" &&
    list.refused.length === 0
  );
}

/** `open`: something else may change without an event. */
export function resultOf(
  plan: Plan,
  now: number,
  open: boolean,
): Pick<SyncResult, "dueMs" | "waiting" | "ok" | "places"> {
  return {
    dueMs: plan.nextAt === undefined ? undefined : plan.nextAt - now,
    waiting: open || plan.rows.some(isUnderWay),
    ok: isAllCurrent(plan),
    places: Object.values(plan.states).reduce((sum, count) => sum + count, 0),
  };
}
