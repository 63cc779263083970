// The planner's own decision for any place of a cluster that was just read. A plan has no row for a place that is current
// or skipped, and a limited number of rows for the others. What the plan saw when it looked at pulling objects counts
// here too. Nothing is remembered of earlier syncs.
import type {
  CachedObject,
  ClusterState,
  CopyObject,
  PlannerSettings,
  PullingObject,
} from "../../controller/model/cluster.ts";
import { because, reportedReason, type Reason } from "../../controller/model/reasons.ts";
import type { Verdict } from "../../controller/model/verdicts.ts";
import type { TargetNamespace } from "../../controller/desired/targets.ts";
import { decide, type Decision, type Stays } from "../../controller/plan/decide.ts";
import { decidePull } from "../../controller/plan/decide-pull.ts";
import { placeKey } from "../../controller/model/kinds.ts";
import { KindPlan } from "../../controller/plan/plan-kind.ts";
import { IgnoredObjects } from "../../controller/plan/plan-reports.ts";
import { Proposals } from "../../controller/plan/proposals.ts";
import { unwantedVerdict } from "../../controller/plan/verdict-table.ts";
import type { View } from "../../controller/plan/view.ts";
import { PlannerMemory } from "../../controller/state/planner-memory.ts";
import { finishAtOnce } from "../../../packages/kube/time/turns.ts";
import type { PullResult } from "../../controller/state/planner-state.ts";
import { refText, type Ref } from "../../text/names.ts";

/** What a look at a pulling object showed, by kind and place. */
export type PullLooks = ReadonlyMap<string, PullResult>;

export type Decided = { readonly verdict: Verdict; readonly reason: Reason };

const SKIP = decided("skip", because("NothingWanted"));
const CURRENT = decided("current", because("Current"));
const OTHERS = decided(
  "frozen",
  reportedReason(
    "SourceOutOfScope",
    "its source belongs to another installation (--other-source-namespaces)",
  ),
);

export class Decisions {
  readonly #view: View;
  readonly #targets: ReadonlyMap<string, TargetNamespace>;

  constructor(clusterState: ClusterState, settings: PlannerSettings, looks: PullLooks) {
    const { view, targets } = kindPlanOf(clusterState, settings, looks);
    this.#view = view;
    this.#targets = new Map(targets.map((target) => [target.name, target]));
  }

  /** Undefined: the namespace takes part in nothing. */
  target(namespace: string): TargetNamespace | undefined {
    return this.#targets.get(namespace);
  }

  /** What one source gets at a place. */
  ofCopy(source: Ref, { namespace, name }: Ref): Decided {
    const target = this.target(namespace);
    if (!target) return SKIP;
    const present = target.secrets.get(name);
    const decision = decide(this.#view, { target, name, present });
    return decidedFor(refText(source), decision, present);
  }

  ofPull(pull: PullingObject): Decided {
    const target = this.target(pull.namespace);
    if (!target) return SKIP;
    const decision = decidePull(this.#view, { target, pull });
    switch (decision.kind) {
      case "stays":
        return decision;
      case "others":
        return OTHERS;
      case "current":
        return CURRENT;
      case "fill":
        return decided("update", because("EntriesDiffer"));
      case "unwanted":
        return decided("release", decision.removalReason.reason);
    }
  }
}

function decided(verdict: Verdict, reason: Reason): Decided {
  return { verdict, reason };
}

// While a take-over waits, the sources that wait for it have rows.
function decidedFor(
  source: string,
  decision: Decision,
  present: CachedObject | undefined,
): Decided {
  switch (decision.kind) {
    case "skip":
      return SKIP;
    case "stays":
      if (refText(decision.source) !== source) return lostBy(source, decision);
      return decision.isOthers === true ? OTHERS : decision;
    case "given": {
      const { verdict, winner, meanwhile } = decision;
      if (winner.text === source) return verdict === "current" ? CURRENT : decision;
      return meanwhile ? decidedFor(source, meanwhile, present) : lostBy(source, decision);
    }
    case "unwanted": {
      if (!isCopyOf(source, present)) return SKIP;
      const state = present.deleting ? "deleting" : "equal";
      return decided(unwantedVerdict(state, decision.onDelete), decision.removalReason.reason);
    }
    case "inherited":
      return isCopyOf(source, present)
        ? decided("delete", decision.removalReason.reason)
        : decidedFor(source, decision.successor, present);
  }
}

function isCopyOf(source: string, present: CachedObject | undefined): present is CopyObject {
  return present?.role === "copy" && refText(present.template.source) === source;
}

function lostBy(source: string, { losers, lost }: Pick<Stays, "losers" | "lost">): Decided {
  const isLoser = losers.some(({ text }) => text === source);
  return lost && isLoser ? decided("conflict", lost.reason) : SKIP;
}

function kindPlanOf(
  clusterState: ClusterState,
  settings: PlannerSettings,
  looks: PullLooks,
): KindPlan {
  const memory = new PlannerMemory();
  const ofKind = memory.of(clusterState.kind);
  for (const pull of clusterState.pulls) {
    const result = looks.get(placeKey(clusterState.kind, pull));
    if (result) ofKind.pullResults.note(refText(pull), result);
  }
  const nothing: ReadonlySet<string> = new Set();
  const subject = {
    clusterState,
    settings,
    memory: ofKind,
    ignored: new IgnoredObjects(),
  };
  const proposals = new Proposals(memory.shared, 0, nothing);
  return finishAtOnce(KindPlan.begin(subject, 0, proposals, nothing));
}
