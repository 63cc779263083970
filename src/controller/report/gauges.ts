// Gauges of the cluster state: public names, help texts, labels, and how each is read when it is scraped.
import type { ClusterState } from "../model/cluster.ts";
import { KINDS, type ObjectKind } from "../model/kinds.ts";
import type { Plan, SourceReport } from "../model/verdicts.ts";
import type { StringMap } from "../../text/string-map.ts";
import type { Watched } from "../../../packages/kube/cache/informer-group.ts";
import { wallOffsetMs, type Clock } from "../../../packages/kube/time/clock.ts";

type MeasuredWatch = Pick<Watched<never>, "lastActivityMs" | "disconnectedSinceMs" | "named">;

/** A running controller, as far as gauges show it. */
export type Measured = {
  readonly leaseName: string;
  /** One for each kind that takes part. */
  readonly clusterStates: readonly Pick<ClusterState, "kind" | "objectsIn">[];
  /** By resource. */
  readonly watches: Readonly<Record<string, MeasuredWatch>>;
  readonly unreadable: () => readonly unknown[];
  readonly deniedNames: () => readonly { readonly name: string }[];
  /** 0: ages of values are not read. */
  readonly maxValueAgeMs: number;
  readonly sync: {
    readonly newestPlan:
      | Pick<Plan, "kinds" | "sources" | "ignored" | "list" | "heldRemovals">
      | undefined;
  };
  readonly syncLog: { readonly convergedMs: number | undefined };
  readonly controller: { readonly leading: boolean };
  readonly clock: Clock;
};

/** A label's values and the number for them. */
type Sample = readonly [labels: StringMap, value: number];
type Gauged = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: (measured: Measured) => Iterable<Sample>;
};

export const READ_GAUGES: readonly Gauged[] = [
  {
    name: "secretcast_sources",
    help: "Sources by state (ok, refused) and resource",
    labelNames: ["state", "resource"],
    read: sources,
  },
  {
    name: "secretcast_old_values",
    help: "Sources whose value is older than --max-value-age: certain, or possible where managedFields record a range",
    labelNames: ["certainty", "resource"],
    read: oldValues,
  },
  {
    name: "secretcast_copies",
    help: "Places by state and resource; conflict also counts places that another source has, other those of another installation (--other-source-namespaces)",
    labelNames: ["state", "resource"],
    read: ({ sync }) =>
      (sync.newestPlan?.kinds ?? []).flatMap(({ kind, states, others }) =>
        ofKind(kind, "state", { ...states, other: others }),
      ),
  },
  {
    name: "secretcast_held_removals",
    help: "Removals that wait for --delete-hold, by publisher: named if the source's namespace publishes otherwise than by *, else any",
    labelNames: ["publisher"],
    read: ({ sync }) => by("publisher", sync.newestPlan?.heldRemovals ?? {}),
  },
  {
    name: "secretcast_ignored",
    help: "Objects and namespaces whose annotations have no effect, by reason",
    labelNames: ["reason"],
    read: ({ sync }) => by("reason", sync.newestPlan?.ignored.counts ?? {}),
  },
  {
    name: "secretcast_source_list_entries",
    help: "Entries of the source list by state: ok, refused, or absent if their object does not exist",
    labelNames: ["state"],
    read: entries,
  },
  {
    name: "secretcast_watch_last_activity_timestamp_seconds",
    help: "Last activity of each watch, by resource, and by name under --only-names",
    labelNames: ["resource", "name"],
    read: ({ watches, clock }) => {
      const offset = wallOffsetMs(clock);
      return byWatch(watches, ({ lastActivityMs }) => lastActivityMs + offset, Math.min);
    },
  },
  {
    name: "secretcast_watch_disconnected_seconds",
    help: "How long each watch has been disconnected, by resource, and by name under --only-names; 0 while it is connected",
    labelNames: ["resource", "name"],
    read: ({ watches, clock }) => {
      const now = clock.monotonic();
      return byWatch(
        watches,
        ({ disconnectedSinceMs }) => now - (disconnectedSinceMs ?? now),
        Math.max,
      );
    },
  },
  {
    name: "secretcast_unreadable_namespaces",
    help: "Namespaces of --namespaces that the API server does not let secretcast read: frozen",
    read: ({ unreadable }) => [[{}, unreadable().length]],
  },
  {
    name: "secretcast_unreadable_names",
    help: "Names of --only-names that the API server does not let secretcast read: frozen",
    read: ({ deniedNames }) => [[{}, new Set(deniedNames().map(({ name }) => name)).size]],
  },
  {
    name: "secretcast_last_converged_timestamp_seconds",
    help: "The last sync that left nothing pending or failed, with every watch connected; conflicts do not count",
    read: ({ syncLog }) => [[{}, (syncLog.convergedMs ?? 0) / 1000]],
  },
  {
    name: "leader_election_master_status",
    help: "1 on the replica that holds the Lease name, else 0",
    labelNames: ["name"],
    read: ({ leaseName, controller }) => [[{ name: leaseName }, controller.leading ? 1 : 0]],
  },
];

type Counts = Readonly<Record<string, number>>;

function by(label: string, counts: Counts): readonly Sample[] {
  return Object.entries(counts).map(([value, count]) => [{ [label]: value }, count]);
}

function ofKind(kind: ObjectKind, label: string, counts: Counts): readonly Sample[] {
  const { plural: resource } = KINDS[kind].resource;
  return by(label, counts).map(([labels, count]) => [{ ...labels, resource }, count]);
}

type Sign = Pick<MeasuredWatch, "lastActivityMs" | "disconnectedSinceMs">;

/** `ms`: a reading of the watches of one resource, or of one name in several namespaces. */
function byWatch(
  watches: Measured["watches"],
  ms: (watch: Sign) => number,
  worst: (...values: number[]) => number,
): readonly Sample[] {
  return Object.entries(watches).flatMap(([resource, watch]): readonly Sample[] => {
    const named = Map.groupBy(watch.named ?? [], ({ name }) => name);
    if (named.size === 0) return [[{ resource }, ms(watch) / 1000]];
    return Array.from(named, ([name, all]) => [{ resource, name }, worst(...all.map(ms)) / 1000]);
  });
}

function sources({ sync: { newestPlan: plan }, clusterStates }: Measured): readonly Sample[] {
  return clusterStates.flatMap(({ kind }, index) => {
    const own = plan?.sources.filter((source) => source.kind === kind) ?? [];
    const count = (wanted: SourceReport["state"]): number =>
      own.filter(({ state }) => state === wanted).length;
    // List entries without a source are refused too. They count for the first kind.
    const faulty = index === 0 ? (plan?.list.refused.length ?? 0) : 0;
    const refused = count("refused") + faulty;
    return ofKind(kind, "state", { ok: count("ok"), refused });
  });
}

/** Older than the limit for certain, or possibly: managedFields record a range. Without a limit, nothing. */
function oldValues({ clusterStates, sync, maxValueAgeMs, clock }: Measured): readonly Sample[] {
  if (maxValueAgeMs === 0) return [];
  const before = clock.now() - maxValueAgeMs;
  const isOlder = (time: string | undefined): boolean =>
    time !== undefined && Date.parse(time) < before;
  return clusterStates.flatMap(({ kind, objectsIn }) => {
    const counts = { certain: 0, possible: 0 };
    for (const { kind: ofSource, source } of sync.newestPlan?.sources ?? []) {
      const object = ofSource === kind && objectsIn(source.namespace).get(source.name);
      const time = object && object.role === "source" ? object.valueTime : undefined;
      if (isOlder(time?.notAfter)) counts.certain++;
      else if (isOlder(time?.notBefore)) counts.possible++;
    }
    return ofKind(kind, "certainty", counts);
  });
}

/** All are 0 if the list is not read. */
function entries({ sync: { newestPlan: plan } }: Measured): readonly Sample[] {
  const { entries: all = 0, refused = [], absent = [] } = plan?.list ?? {};
  const ofSources = plan?.sources.filter(
    ({ entry, state }) => entry !== undefined && state === "refused",
  );
  const faulty = refused.length + (ofSources?.length ?? 0);
  const ok = all - faulty - absent.length;
  return by("state", { ok, refused: faulty, absent: absent.length });
}
