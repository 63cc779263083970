// Writes whose answer did not come. If the watch then shows what such a write would have done, its receipt names
// that write. Promise: the number of remembered writes is limited. The effect of a forgotten one counts as another
// client's.
import { isCopying, type Action } from "../controller/model/actions.ts";
import type { Outcome } from "../controller/writes/outcome.ts";
import type { ApiErrorKind } from "../../packages/kube/rest/api-error.ts";
import type { Receipt } from "./receipt-line.ts";

const MOST = 1000;

/** What the watch shows of one place. */
type Effect = Pick<Receipt, "holding" | "before" | "versions">;

export class LostAnswers {
  /** By place, the oldest first. */
  readonly #actions = new Map<string, Action>();

  /** A write at `place` has ended without success. */
  ended(place: string, outcome: Outcome): void {
    if (!mayHaveWritten(outcome)) return;
    this.#actions.delete(place);
    this.#actions.set(place, outcome.action);
    const [oldest] = this.#actions.keys();
    if (this.#actions.size > MOST && oldest !== undefined) this.#actions.delete(oldest);
  }

  forget(place: string): void {
    this.#actions.delete(place);
  }

  /** The write that can have had this effect. It is forgotten. */
  take(place: string, effect: Effect): Action | undefined {
    const action = this.#actions.get(place);
    if (!action || !isEffectOf(action, effect)) return undefined;
    this.#actions.delete(place);
    return action;
  }
}

/** The word of a receipt for what the action does. */
export function wordOf(action: Action): Receipt["word"] {
  if (isCopying(action) && action.cause === "handover") return "takeover";
  if (action.kind === "clear") return "clear";
  return action.kind === "liveGet" || action.kind === "confirm" ? "found" : action.kind;
}

/** After these errors it is unknown whether the write was carried out. */
const UNCERTAIN: ReadonlySet<ApiErrorKind> = new Set([
  "timeout",
  "unavailable",
  "malformed",
  "cancelled",
]);

function mayHaveWritten(outcome: Outcome): boolean {
  // The delete of a replace may have been carried out before its create was refused.
  const isHalf = outcome.action.kind === "replace";
  if (outcome.kind === "failed") return isHalf || UNCERTAIN.has(outcome.error);
  return outcome.kind === "stopped" || (outcome.kind === "moved" && isHalf);
}

/** Whether the write can have had this effect. */
function isEffectOf(action: Action, { holding, before, versions }: Effect): boolean {
  if (action.kind === "replace" && !holding) return before?.uid === action.target.uid;
  if ("content" in action) {
    const { uid, resourceVersion } = action.content.source;
    return holding?.sourceUid === uid && holding.sourceVersion === resourceVersion;
  }
  if (!("target" in action) || holding) return false;
  // A release and an emptied pulling object stay where they are.
  const stays = action.kind !== "delete";
  return versions.before?.uid === action.target.uid && stays === (versions.after !== undefined);
}
