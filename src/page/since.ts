// Since when something has been so, as a reader is reported. What was so when this process first looked may
// have been so before: it says so, and does not guess.

export type SinceWhen = {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  /** It was so already at this process's first plan. */
  readonly orBefore: boolean;
};

/** What turns times of a plan into times of the day: what they lack, and when the first plan was begun. */
export type PlanTimes = { readonly offsetMs: number; readonly beganAt: number };

/** `since`: ms of the plan's clock. */
export function sinceWhen(since: number, { offsetMs, beganAt }: PlanTimes): SinceWhen {
  return { ms: Math.round(since + offsetMs), orBefore: since <= beganAt };
}
