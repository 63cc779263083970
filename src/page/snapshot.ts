// The state of a running controller for the status page, read on request.
import type { Caches } from "../controller/sync/caches.ts";
import type { Controller } from "../controller/sync/controller.ts";
import type { Sync } from "../controller/sync/sync.ts";
import type { ClusterState } from "../controller/model/cluster.ts";
import { wallOffsetMs, type Clock } from "../../packages/kube/time/clock.ts";
import type { Watched } from "../../packages/kube/cache/informer-group.ts";
import type { LeaderElector } from "../../packages/kube/leaderelection/leader-elector.ts";
import type { SyncLog } from "../controller/report/sync-log.ts";
import type { FormerRule } from "../controller/model/former-rule.ts";
import type { Reachability } from "../../packages/kube/rest/reachability.ts";
import { leaderPageCommand, type OwnPod } from "./leader-page.ts";
import { outdatedSince, type WatchStatus } from "./freshness.ts";
import type { ControllerSnapshot, Leader } from "./status.ts";

export type Observed = {
  readonly clusterStates: readonly ClusterState[];
  readonly watches: Readonly<Record<string, ObservedWatch>>;
  readonly reachability: Reachability;
  readonly elector: LeaderElector | undefined;
  /** The pod that this process runs in, if any. */
  readonly pod: OwnPod | undefined;
  readonly controller: Controller;
  readonly sync: Sync;
  readonly syncLog: SyncLog;
  readonly formerRules: { readonly waiting: () => Iterable<FormerRule> };
  readonly clock: Clock;
  readonly dryRun: boolean;
  /** Names of --only-names that the API server denies. */
  readonly deniedNames: Caches["deniedNames"];
  /** Namespaces of --namespaces that the API server denies. */
  readonly unreadable: Caches["unreadable"];
};

type ObservedWatch = Pick<
  Watched<never>,
  "hasSynced" | "lastActivityMs" | "disconnectedSinceMs" | "scheduledReconnect"
>;

export function controllerSnapshot(observed: Observed): () => ControllerSnapshot {
  const { clusterStates, controller, sync, syncLog, clock, dryRun, reachability } = observed;
  return () => {
    const offsetMs = wallOffsetMs(clock);
    const watches = Object.entries(observed.watches).map(([resource, watch]) =>
      watchStatus(resource, watch, offsetMs),
    );
    const unreadableNames = observed.deniedNames();
    const serverAwayMs = wallTime(reachability.awaySinceMs, offsetMs);
    return {
      clusterStates,
      plan: sync.newestPlan,
      convergedMs: syncLog.convergedMs,
      offsetMs,
      formerRules: observed.formerRules.waiting(),
      dryRun,
      leader: leaderOf(observed),
      watches,
      serverAwayMs,
      outdated: outdatedSince(clock.now(), watches, serverAwayMs),
      // Disconnected watches, which make it not ready, are left out. They have their own lines with times.
      troubles: [
        ...controller.live(),
        ...watches.filter(({ filled }) => !filled).map(unfilled),
        ...new Set(unreadableNames.map(({ name }) => unreadable(`objects named ${name}`))),
        ...observed.unreadable().map((name) => unreadable(`objects in namespace ${name}`)),
      ],
      unreadableNames,
    };
  };
}

function watchStatus(resource: string, watch: ObservedWatch, offsetMs: number): WatchStatus {
  const disconnectedMs = wallTime(watch.disconnectedSinceMs, offsetMs);
  return {
    resource,
    filled: watch.hasSynced,
    aliveMs: Math.round(watch.lastActivityMs + offsetMs),
    disconnectedMs,
    nextTryMs:
      disconnectedMs === undefined ? undefined : wallTime(watch.scheduledReconnect, offsetMs),
  };
}

function unreadable(which: string): string {
  return `${which} cannot be read (403): their copies and those of their sources stay as they are`;
}

function unfilled({ resource }: WatchStatus): string {
  return `${resource}: cache not filled yet`;
}

function wallTime(monotonicMs: number | undefined, offsetMs: number): number | undefined {
  return monotonicMs === undefined ? undefined : Math.round(monotonicMs + offsetMs);
}

function leaderOf({ elector, pod }: Observed): Leader {
  if (!elector) return { state: "alone", holder: undefined, command: undefined };
  const holder = elector.holder === "" ? undefined : elector.holder;
  if (elector.isLeader) return { state: "leading", holder, command: undefined };
  const command = pod && holder !== undefined ? leaderPageCommand(holder, pod) : undefined;
  return { state: "stand-by", holder, command };
}
