// Since when a state has held, as reported to a reader. A state at this process's first plan may have begun
// before it. The answer says so and does not guess.

export type SinceWhen = {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  /** The state held already at this process's first plan. */
  readonly orBefore: boolean;
};

/** Converts plan times to wall times: the offset to add, and when the first plan was begun. */
export type PlanTimes = { readonly offsetMs: number; readonly beganAt: number };

/** `since`: ms of the plan's clock. */
export function sinceWhen(since: number, { offsetMs, beganAt }: PlanTimes): SinceWhen {
  return { ms: Math.round(since + offsetMs), orBefore: since <= beganAt };
}
