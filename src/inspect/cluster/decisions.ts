// The planner's own decision for any place of a cluster that was just read. A plan has no row for a place that is current
// or skipped, and a limited number of rows for the others. Nothing is remembered of earlier syncs.
import type {
  ClusterState,
  PlannerSettings,
  PullingObject,
} from "../../controller/model/cluster.ts";
import type { TargetNamespace } from "../../controller/desired/targets.ts";
import { decide, type Decision } from "../../controller/plan/decide.ts";
import { decidePull, type PullDecision } from "../../controller/plan/decide-pull.ts";
import { KindPlan } from "../../controller/plan/plan-kind.ts";
import { IgnoredObjects } from "../../controller/plan/plan-reports.ts";
import { Proposals } from "../../controller/plan/proposals.ts";
import type { View } from "../../controller/plan/view.ts";
import { PlannerMemory } from "../../controller/state/planner-memory.ts";

export class Decisions {
  readonly #view: View;
  readonly #targets: ReadonlyMap<string, TargetNamespace>;

  constructor(clusterState: ClusterState, settings: PlannerSettings) {
    const { view, targets } = kindPlanOf(clusterState, settings);
    this.#view = view;
    this.#targets = new Map(targets.map((target) => [target.name, target]));
  }

  /** Undefined: the namespace takes part in nothing. */
  target(namespace: string): TargetNamespace | undefined {
    return this.#targets.get(namespace);
  }

  at(target: TargetNamespace, name: string): Decision {
    return decide(this.#view, { target, name, present: target.secrets.get(name) });
  }

  of(target: TargetNamespace, pull: PullingObject): PullDecision {
    return decidePull(this.#view, { target, pull });
  }
}

function kindPlanOf(clusterState: ClusterState, settings: PlannerSettings): KindPlan {
  const memory = new PlannerMemory();
  const nothing: ReadonlySet<string> = new Set();
  const subject = {
    clusterState,
    settings,
    memory: memory.of(clusterState.kind),
    ignored: new IgnoredObjects(),
  };
  const steps = KindPlan.begin(subject, 0, new Proposals(memory.shared, 0, nothing), nothing);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
