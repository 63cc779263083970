// A removal that is held, as the planner reports it.
import type { Row } from "../../../src/controller/model/verdicts.ts";
import { heldReason } from "../../../src/controller/model/removal-holds.ts";

export function heldRow(namespace: string, changes: Partial<Row> = {}): Row {
  const { hold = "nowhere" } = changes;
  return {
    verdict: "held",
    kind: "Secret",
    place: { namespace, name: "registry" },
    source: { namespace: "shared", name: "registry" },
    reason: heldReason("source shared/registry no longer wants this place", hold),
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
