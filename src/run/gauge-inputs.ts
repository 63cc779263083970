// The inputs of the metrics from a running controller, read at scrape time.
import type { Caches } from "../controller/sync/caches.ts";
import type { Controller } from "../controller/sync/controller.ts";
import type { Sync } from "../controller/sync/sync.ts";
import { KINDS, type ObjectKind } from "../controller/model/kinds.ts";
import { wallOffsetMs, type Clock } from "../kube/time/clock.ts";
import type { SourceReport } from "../controller/model/verdicts.ts";
import type { GaugeInputs } from "../controller/report/metric-table.ts";
import type { SyncLog } from "../controller/report/sync-log.ts";

export type Measured = {
  /** The kinds that take part. */
  readonly kinds: readonly ObjectKind[];
  readonly caches: Pick<Caches, "kinds" | "watches" | "unreadable" | "deniedNames">;
  /** 0: ages of values are not read. */
  readonly maxValueAgeMs: number;
  readonly controller: Controller;
  readonly sync: Sync;
  readonly syncLog: SyncLog;
  readonly clock: Clock;
};

export function gaugeInputs(measured: Measured): Omit<GaugeInputs, "leaseName"> {
  const { kinds, caches, controller, sync, syncLog, clock } = measured;
  const { watches } = caches;
  return {
    copies: () => copiesByState(sync),
    sources: () => countSources(sync, kinds),
    oldValues: () => countOldValues(measured),
    ignored: () => sync.newestPlan?.ignored.counts ?? {},
    listEntries: () => countEntries(sync),
    lastConvergedMs: () => syncLog.convergedMs,
    unreadableNamespaces: () => caches.unreadable().length,
    unreadableNames: () => caches.deniedNames().length,
    watchActivityMs: () => lastActivity(watches, clock),
    watchDisconnectedMs: () => disconnected(watches, clock),
    leading: () => controller.leading,
  };
}

type ByState = Record<string, Readonly<Record<string, number>>>;

/** By resource. */
function copiesByState({ newestPlan: plan }: Sync): ByState {
  const kinds = plan?.kinds ?? [];
  return Object.fromEntries(
    kinds.map(({ kind, states, others }) => [
      KINDS[kind].resource.plural,
      { ...states, other: others },
    ]),
  );
}

function countSources({ newestPlan: plan }: Sync, kinds: readonly ObjectKind[]): ByState {
  // List entries without a source are refused too. They count for the first kind.
  let entries = plan?.list.refused.length ?? 0;
  const counted = kinds.map((kind) => {
    const own = plan?.sources.filter((source) => source.kind === kind) ?? [];
    const count = (wanted: SourceReport["state"]): number =>
      own.filter(({ state }) => state === wanted).length;
    const [ok, nowhere] = [count("ok"), count("nowhere")];
    const states = { ok, nowhere, refused: count("refused") + entries };
    entries = 0;
    return [KINDS[kind].resource.plural, states] as const;
  });
  return Object.fromEntries(counted);
}

/** Older than the limit for certain, or possibly: managedFields record a range. Without a limit, nothing. */
function countOldValues({ caches, sync, maxValueAgeMs, clock }: Measured): ByState {
  if (maxValueAgeMs === 0) return {};
  const before = clock.now() - maxValueAgeMs;
  const isOlder = (time: string | undefined): boolean =>
    time !== undefined && Date.parse(time) < before;
  const counted = caches.kinds.map(({ kind, clusterState }) => {
    const counts = { certain: 0, possible: 0 };
    for (const report of sync.newestPlan?.sources ?? []) {
      if (report.kind !== kind) continue;
      const { namespace, name } = report.source;
      const object = clusterState.objectsIn(namespace).get(name);
      const time = object?.role === "source" ? object.valueTime : undefined;
      if (isOlder(time?.notAfter)) counts.certain++;
      else if (isOlder(time?.notBefore)) counts.possible++;
    }
    return [KINDS[kind].resource.plural, counts] as const;
  });
  return Object.fromEntries(counted);
}

function countEntries({ newestPlan: plan }: Sync): Record<string, number> {
  const { entries = 0, refused = [], absent = [] } = plan?.list ?? {};
  const ofSources = plan?.sources.filter(
    ({ entry, state }) => entry !== undefined && state === "refused",
  );
  const faulty = refused.length + (ofSources?.length ?? 0);
  return { ok: entries - faulty - absent.length, refused: faulty, absent: absent.length };
}

/** Converts monotonic times to wall times. */
function lastActivity(watches: Caches["watches"], clock: Clock): Record<string, number> {
  const offset = wallOffsetMs(clock);
  return mapped(watches, ({ lastActivityMs }) => lastActivityMs + offset);
}

function disconnected(watches: Caches["watches"], clock: Clock): Record<string, number> {
  const now = clock.monotonic();
  return mapped(watches, ({ disconnectedSinceMs }) => now - (disconnectedSinceMs ?? now));
}

function mapped(
  watches: Caches["watches"],
  of: (watch: Caches["watches"][string]) => number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(watches).map(([resource, watch]) => [resource, of(watch)]),
  );
}
