// What the status page asks of a running controller, read at the moment it asks.
import type { Controller } from "../../controller/controller.ts";
import type { Sync } from "../../controller/sync.ts";
import type { ClusterState } from "../../core/model/cluster.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { Watched } from "../../kube/cache/informer-group.ts";
import type { LeaderElector } from "../../kube/leaderelection/leader-elector.ts";
import type { SyncLog } from "../../telemetry/sync-log.ts";
import type { ControllerSnapshot, Leader } from "../../server/status/status.ts";

export type Observed = {
  readonly world: ClusterState;
  readonly watches: Readonly<Record<string, Pick<Watched<never>, "hasSynced" | "lastActivityMs">>>;
  readonly elector: LeaderElector | undefined;
  readonly controller: Controller;
  readonly sync: Sync;
  readonly syncLog: SyncLog;
  readonly clock: Clock;
  readonly dryRun: boolean;
};

export function controllerSnapshot(observed: Observed): () => ControllerSnapshot {
  const { world, watches, controller, sync, syncLog, clock, dryRun } = observed;
  return () => {
    const offsetMs = clock.now() - clock.monotonic();
    return {
      world,
      plan: sync.newestPlan,
      convergedMs: syncLog.convergedMs,
      offsetMs,
      dryRun,
      leader: leaderOf(observed),
      watches: Object.entries(watches).map(([resource, { hasSynced, lastActivityMs }]) => ({
        resource,
        filled: hasSynced,
        aliveMs: Math.round(lastActivityMs + offsetMs),
      })),
      troubles: [...controller.live(), ...controller.ready()],
    };
  };
}

function leaderOf({ elector }: Observed): Leader {
  if (!elector) return { state: "alone", holder: undefined };
  const state = elector.isLeader ? "leading" : "stand-by";
  return { state, holder: elector.holder === "" ? undefined : elector.holder };
}
