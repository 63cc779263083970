// A removal that is held, as the planner reports it.
import { because, followedBy } from "../../../src/controller/model/reasons.ts";
import type { Row } from "../../../src/controller/model/verdicts.ts";
import { heldBy } from "../../../src/controller/model/removal-holds.ts";

export function heldRow(namespace: string, changes: Partial<Row> = {}): Row {
  const { hold = "edit" } = changes;
  return {
    verdict: "held",
    kind: "Secret",
    place: { namespace, name: "registry" },
    source: { namespace: "shared", name: "registry" },
    reason: followedBy(because("NoLongerWanted", { source: "shared/registry" }), heldBy(hold)),
    cause: undefined,
    dueAt: undefined,
    since: 0,
    triedAt: undefined,
    differs: undefined,
    pulling: false,
    winner: undefined,
    hold,
    ...changes,
  };
}
