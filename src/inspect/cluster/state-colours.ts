// The colours of states and verdicts, the same in every list.
import { METRIC_STATE, type MetricState, type Verdict } from "../../controller/model/verdicts.ts";
import type { Colour } from "../kubectl/table.ts";

export const STATE_COLOURS: Readonly<Record<MetricState | "unknown", Colour>> = {
  failed: "red",
  conflict: "red",
  held: "cyan",
  frozen: "cyan",
  paused: "cyan",
  unknown: "yellow",
  pending: "yellow",
  current: "green",
};

/** `refused`: the source itself is refused. `unknown`: the user may not read what decides. */
export function verdictColour(verdict: Verdict | "refused" | "unknown"): Colour {
  if (verdict === "refused") return "red";
  const state = verdict === "unknown" ? verdict : METRIC_STATE[verdict];
  return state === undefined ? "grey" : STATE_COLOURS[state];
}
