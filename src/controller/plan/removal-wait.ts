// How long a copy that is no longer wanted waits before it is removed. This is the one rule. The planner, `plan`, `status` and `explain` all print what follows from here.
//   1. the namespace says accept: "false"                                           --delete-grace
//   2. the source names nobody on purpose: to: "!*", or for pulls allow: "!*"       --delete-grace
//   3. the source is valid, lost at most two namespaces, and wants more than these  --delete-grace
//   4. every other case, and what the first sync of this process finds by 3         --delete-hold
import { because } from "../model/reasons.ts";
import type { PlannerSettings } from "../model/cluster.ts";
import { heldBy, removalWaits } from "../model/removal-holds.ts";
import type { CurrentWait } from "../state/unwanted-places.ts";
import { formatDuration } from "../settings/units.ts";
import type { RemovalReason } from "./removal-conditions.ts";

/** What the rule needs of one place beside the reason. */
export type LossCounts = {
  /** In so many namespaces the source stopped wanting copies of this name within the last hold. */
  readonly lost: number;
  /** So many existing namespaces it still wants. */
  readonly left: number;
  /** The first sync of this process found it so. */
  readonly foundAtStart: boolean;
};

/** More than these could be a mistake. */
export const MOST_LOST = 2;

/** `counts`: called only where the number of lost namespaces decides. */
export function removalWait(
  settings: PlannerSettings,
  { kind }: RemovalReason,
  counts: () => LossCounts,
): CurrentWait {
  const { graceMs, holdMs, holds } = removalWaits(settings);
  const grace = { ms: graceMs, isAskedFor: false, hold: undefined };
  if (kind === "declined" || kind === "nobody") return { ...grace, isAskedFor: true };
  const hold =
    kind === "narrowed" ? narrowed(counts(), holdMs) : { cause: kind, why: heldBy(kind) };
  if (hold === undefined || !holds) return grace;
  return { ms: holdMs, isAskedFor: false, hold };
}

function narrowed({ lost, left, foundAtStart }: LossCounts, holdMs: number): CurrentWait["hold"] {
  if (lost > MOST_LOST || left <= lost) {
    const window = formatDuration(holdMs);
    return { cause: "edit", why: because("HeldByEdit", { lost, left, window }) };
  }
  return foundAtStart ? { cause: "start", why: heldBy("start") } : undefined;
}
