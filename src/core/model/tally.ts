// Counting verdicts: one number a verdict, changed in place, because a pass counts millions of pairs.
import {
  METRIC_STATE,
  METRIC_STATES,
  VERDICTS,
  type MetricState,
  type Verdict,
} from "./verdicts.ts";

export type Tally = Record<Verdict, number>;

export function newTally(): Tally {
  return {
    create: 0,
    current: 0,
    update: 0,
    replace: 0,
    adopt: 0,
    delete: 0,
    release: 0,
    wait: 0,
    conflict: 0,
    skip: 0,
    held: 0,
    paused: 0,
    frozen: 0,
    backoff: 0,
  };
}

export function addTally(into: Tally, tally: Readonly<Tally>): void {
  for (const verdict of VERDICTS) into[verdict] += tally[verdict];
}

export function statesOf(tally: Readonly<Tally>): Record<MetricState, number> {
  const states = Object.fromEntries(METRIC_STATES.map((state) => [state, 0]));
  for (const verdict of VERDICTS) {
    const state = METRIC_STATE[verdict];
    if (state !== undefined) states[state] = (states[state] ?? 0) + tally[verdict];
  }
  return {
    current: states["current"] ?? 0,
    pending: states["pending"] ?? 0,
    conflict: states["conflict"] ?? 0,
    failed: states["failed"] ?? 0,
    held: states["held"] ?? 0,
    paused: states["paused"] ?? 0,
    frozen: states["frozen"] ?? 0,
  };
}
