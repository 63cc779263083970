// Counting verdicts: one number a verdict, changed in place, because a pass counts millions of pairs.
import {
  METRIC_STATE,
  METRIC_STATES,
  VERDICTS,
  type MetricState,
  type Verdict,
} from "./verdicts.ts";

export type Tally = Record<Verdict, number>;

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}

const NOTHING: Readonly<Tally> = zeros(VERDICTS);

export function newTally(): Tally {
  return { ...NOTHING };
}

export function addTally(into: Tally, tally: Readonly<Tally>): void {
  for (const verdict of VERDICTS) into[verdict] += tally[verdict];
}

export function statesOf(tally: Readonly<Tally>): Record<MetricState, number> {
  const states = zeros(METRIC_STATES);
  for (const verdict of VERDICTS) {
    const state = METRIC_STATE[verdict];
    if (state !== undefined) states[state] += tally[verdict];
  }
  return states;
}
