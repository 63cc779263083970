// The conditions under which a removal could be a mistake, one sentence each: why it is held, and what
// prevents it. The planner's reasons, Events, the log, the status page and the commands use these texts.
import { because, type Reason } from "./reasons.ts";
import type { RemovalHoldCause } from "./verdicts.ts";

type HoldText = {
  /** Follows "held, because". */
  readonly because: string;
  /** Follows "will be deleted at TIME unless". */
  readonly unless: string;
};

/** In the order in which they apply. */
export const REMOVAL_HOLDS: Readonly<Record<RemovalHoldCause, HoldText>> = {
  namespace: {
    because: "the namespace of the source is deleted or being deleted",
    unless: "the namespace and the source are created again",
  },
  unseen: {
    because: "this process has never seen the source",
    unless: "the source is created again",
  },
  entry: {
    because: "the source list no longer has the entry that made the copy",
    unless: "the entry is put back",
  },
  nowhere: {
    because: "the change leaves the source without any copy",
    unless: "the change is undone",
  },
  half: {
    because: "the change removes more than half of the copies of the source",
    unless: "the change is undone",
  },
  limit: {
    because: "too many removals are due at once",
    unless: "the copies are wanted again",
  },
};

/** A source's state `nowhere` as text. */
export const NOWHERE_TEXT = "an edit leaves the source without any copy";

/** Follows the reason for the removal. */
export function heldBy(hold: RemovalHoldCause): Reason {
  return because("Held", { because: REMOVAL_HOLDS[hold].because });
}
