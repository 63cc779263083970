// A removal that is held, as the planner reports it.
import { because, followedBy } from "../../../src/controller/model/reasons.ts";
import type { Row, RowRemoval } from "../../../src/controller/model/verdicts.ts";
import { heldBy } from "../../../src/controller/model/removal-holds.ts";

/** The fields of its removal may stand beside its own. */
export type HeldRow = Partial<Row & RowRemoval>;

export function heldRow(namespace: string, changes: HeldRow = {}): Row {
  const { hold = "edit", end = "delete", entry, lost = false, ...others } = changes;
  return {
    verdict: "held",
    kind: "Secret",
    place: { namespace, name: "registry" },
    source: { namespace: "shared", name: "registry" },
    reason: followedBy(because("NoLongerWanted", { source: "shared/registry" }), heldBy(hold)),
    dueAt: undefined,
    since: 0,
    differs: undefined,
    pulling: false,
    winner: undefined,
    removal: { end, hold, entry, lost },
    ...others,
  };
}
