// The colours of states, the same in every list.
import type { MetricState } from "../../controller/model/verdicts.ts";
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
