// Why a removal could be a mistake and waits for --delete-hold, and what prevents it, one sentence each. The
// planner's reasons, Events, the log, the status page and the commands use these texts. And the one place that asks
// the settings how long a removal waits: which of the two waits a place has is the rule of plan/removal-wait.ts.
import { because, type Reason } from "./reasons.ts";
import type { PlannerSettings } from "./cluster.ts";
import type { RemovalHoldCause } from "./verdicts.ts";

type HoldText = {
  /** Follows "held, because". */
  readonly because: string;
  /** Follows "will be deleted at TIME unless". */
  readonly unless: string;
};

export const REMOVAL_HOLDS: Readonly<Record<RemovalHoldCause, HoldText>> = {
  gone: {
    because: "the source no longer exists",
    unless: "the source is created again",
  },
  entry: {
    because: "the source list no longer has the entry that made the copy",
    unless: "the entry is put back",
  },
  unannotated: {
    because: "the source lost the annotations that ask for copies",
    unless: "the annotations are put back",
  },
  edit: {
    because: "the source stopped wanting copies in many namespaces, or in most",
    unless: "the change is undone",
  },
  start: {
    because: "this process found the copy unwanted when it started",
    unless: "the copy is wanted again",
  },
};

/** Follows the reason for the removal. */
export function heldBy(hold: RemovalHoldCause): Reason {
  return because("Held", { because: REMOVAL_HOLDS[hold].because });
}

/** The waits of copies. `hold` is never shorter than `grace`, and equal if holds are turned off. */
export function removalWaits({ deleteGraceMs, deleteHoldMs }: PlannerSettings): {
  readonly graceMs: number;
  readonly holdMs: number;
  readonly holds: boolean;
} {
  const holds = deleteHoldMs > 0;
  const holdMs = holds ? Math.max(deleteGraceMs, deleteHoldMs) : deleteGraceMs;
  return { graceMs: deleteGraceMs, holdMs, holds };
}
