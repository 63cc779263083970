// Events on a pulling object. Its owner may read neither the source, the source list nor the flags. A row's
// `reason` and what would prevent a removal are therefore left out.
import { reasonText } from "../model/reasons.ts";
import { dueWordsOf, type DueWords } from "../settings/due-text.ts";
import { noSource, typeDifference, type Row } from "../model/verdicts.ts";
import { refText } from "../../text/names.ts";
import type { Action } from "../model/actions.ts";

export const FOUGHT_PULL =
  "its filled entries are repeatedly changed by another client; backing off";

/** The Event of a write that was made. Undefined if it was not on a pulling object. */
export function filledEvent(action: Action) {
  if (action.kind !== "fill" && action.kind !== "unfill") return undefined;
  const { objectKind: kind, place: on, source, target } = action;
  const event = { kind, on, uid: target.uid, type: "Normal" } as const;
  if (action.kind === "unfill") {
    const note = `removed the pulled keys: ${reasonText(noSource(source))}`;
    return { ...event, reason: "Removed", note } as const;
  }
  const difference = typeDifference(target.type, action.content.desiredCopy.type);
  const note = `filled from ${refText(source)}${difference === undefined ? "" : `; ${difference}`}`;
  return { ...event, reason: "Copied", note } as const;
}

type PullWarning = {
  readonly reason: "Conflict" | "DeletesHeld" | "Failed" | "Refused";
  readonly note: string;
  /** What happens by itself at the time in the row. */
  readonly due?: DueWords;
};

export function pullWarning(row: Row): PullWarning | undefined {
  const { verdict, source, cause, forOwner } = row;
  // A write follows from the source's consent or the record on the object, and its cause is at the place.
  if (verdict === "backoff" && cause !== undefined) {
    const note = `its entries could not be written: ${reasonText(row.reason)} (cause: ${cause}); will try again`;
    return { reason: "Failed", note };
  }
  if (verdict === "held") {
    const { dueWords } = dueWordsOf(row);
    const note = `its entries stay for now: ${reasonText(noSource(source))}`;
    return { reason: "DeletesHeld", note, due: { dueWords } };
  }
  if (verdict !== "conflict" && verdict !== "frozen") return undefined;
  const reason = forOwner?.kind === "refused" ? "Refused" : "Conflict";
  return { reason, note: reasonText(forOwner?.reason ?? noSource(source)) };
}
