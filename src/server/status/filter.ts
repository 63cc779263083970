// What a reader of the status page wants to see: parts of names and one state. It comes from a URL's
// query; a part is compared as it is, never as a pattern.
import { METRIC_STATES, type MetricState } from "../../core/model/verdicts.ts";

/** The page's states: those of the metrics, and sources that are refused. */
const STATES = [...METRIC_STATES, "refused"] as const;
export type RowState = MetricState | "refused";

const SEVERITY_OF: Readonly<Record<RowState, number>> = {
  refused: 0,
  failed: 1,
  conflict: 2,
  held: 3,
  frozen: 4,
  pending: 5,
  paused: 6,
  current: 7,
};

/** 0 is the worst. */
export function severity(state: RowState): number {
  return SEVERITY_OF[state];
}

/** The worst first. */
export const SEVERITY: readonly RowState[] = STATES.toSorted((a, b) => severity(a) - severity(b));

export type Filter = {
  /** Part of a source's NAMESPACE/NAME; "" is in all. */
  readonly source: string;
  /** Part of a target namespace's name. */
  readonly namespace: string;
  readonly state: RowState | undefined;
};

// NAMESPACE/NAME is no longer.
const LONGEST = 63 + 1 + 253;

/** Throws a RangeError that names the parameter, its value and what would be right. */
export function readFilter(query: URLSearchParams): Filter {
  const part = (name: string): string => {
    const text = (query.get(name) ?? "").trim().toLowerCase();
    if (text.length > LONGEST)
      throw new RangeError(`${name}: ${text.length} characters, want at most ${LONGEST}`);
    return text;
  };
  const given = query.get("state") ?? "";
  const state = STATES.find((each) => each === given);
  if (given !== "" && state === undefined)
    throw new RangeError(
      `state: ${JSON.stringify(given.slice(0, 40))} is not one of ${STATES.join(", ")}`,
    );
  return { source: part("source"), namespace: part("namespace"), state };
}
