// Why a removal could be a mistake and waits for --delete-hold, and what prevents it, one sentence each. The
// planner's reasons, Events, the log, the status page and the commands use these texts.
import { because, type Reason } from "./reasons.ts";
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
