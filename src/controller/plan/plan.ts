// ClusterState -> Plan: one verdict for every place that a source wants or that one of our copies occupies.
//
//   the object at   | absent | ours,     | ours,     | ours, different   | ours, being | not ours
//   the place is -> |        | equal     | different | where the API     | deleted     |
//                   |        |           |           | allows no update  |             |
//   ----------------+--------+-----------+-----------+-------------------+-------------+----------
//   wanted          | create | current   | update    | replace           | wait        | conflict,
//                   |        |           |           |                   |             | or adopt
//   not wanted      | skip   | delete or | delete or | delete or release | wait        | skip
//                   |        | release   | release   |                   |             |
//
// Other verdicts: held, paused, frozen, backoff. The table as data is in verdict-table.ts. wants.ts says which sources
// want a place, decide.ts which of them gets it, enact.ts what is written, removals.ts when a copy is removed. The
// plan depends only on its arguments, and changes only what `memory` remembers.
//
// Objects of different kinds never share a place, so each kind is planned by itself (plan-kind.ts). This file
// does what they share: questions to the API server, and the order of writes.
import type { PlannerMemory } from "../state/planner-memory.ts";
import type { ClusterState, PlannerSettings } from "../model/cluster.ts";
import { Proposals } from "./proposals.ts";
import { KindPlan } from "./plan-kind.ts";
import { IgnoredObjects, NO_LIST_REPORT, unmatchedFlags } from "./plan-reports.ts";
import { type ListReport, type Plan, newTally, addTally, statesOf } from "../model/verdicts.ts";

/**
 * Yields every few thousand pairs, so that its driver can let the event loop run. What the cache learns
 * meanwhile is for the next sync. `clusterStates`: one of each kind that takes part, over the same
 * namespaces. `now`: ms, monotonic. `inFlight`: keys (actionKey) of actions that are under way. Their
 * places get no action.
 */
export function* plan(
  clusterStates: readonly ClusterState[],
  settings: PlannerSettings,
  memory: PlannerMemory,
  now: number,
  inFlight: ReadonlySet<string>,
): Generator<undefined, Plan> {
  const { shared } = memory;
  shared.beginSync(now);
  const proposals = new Proposals(shared, now, inFlight);
  const ignored = new IgnoredObjects();
  const kinds: KindPlan[] = [];
  for (const clusterState of clusterStates) {
    const of = { clusterState, settings, memory: memory.of(clusterState.kind), ignored };
    kinds.push(yield* KindPlan.begin(of, now, proposals, inFlight));
  }
  proposals.sources = Math.max(
    1,
    sum(kinds, ({ candidates }) => candidates),
  );
  for (const kind of kinds) yield* kind.planPlaces();
  const creating = sum(kinds, ({ creates }) => creates.creating);
  for (const kind of kinds) yield* kind.creates.settle(creating);
  for (const kind of kinds) yield* kind.removals.settle();
  for (const kind of kinds) yield* kind.settleSources();
  const actions = yield* proposals.actions();
  for (const { planBuilder } of kinds) planBuilder.end();
  shared.endSync();
  const [first] = clusterStates;
  const namespaces = kinds[0]?.unclear() ?? [];
  const flags = first ? yield* unmatchedFlags(first, settings, shared) : [];
  const list = mergedLists(kinds.map((kind) => kind.list()));
  const rest = { actions, namespaces, ignored: ignored.report(namespaces.length, flags), list };
  return { ...(yield* merged(kinds)), beganAt: shared.beganAt ?? now, ...rest };
}

function* merged(
  kinds: readonly KindPlan[],
): Generator<undefined, Omit<Plan, "actions" | "namespaces" | "ignored" | "list" | "beganAt">> {
  const counts = newTally();
  const reports = [];
  for (const kind of kinds) reports.push(yield* kind.report());
  for (const report of reports) addTally(counts, report.counts);
  const passes = kinds.map(({ planBuilder }) => planBuilder);
  const next = passes.flatMap(({ nextAt }) => nextAt ?? []);
  return {
    rows: joined(passes.map(({ rows }) => rows)),
    sources: joined(reports.map(({ sources }) => sources)),
    kinds: reports.map(({ kind, states, others }) => ({ kind, states, others })),
    counts,
    states: statesOf(counts),
    heldRemovals: {
      named: sum(passes, ({ heldRemovals }) => heldRemovals.named),
      any: sum(passes, ({ heldRemovals }) => heldRemovals.any),
    },
    pairs: sum(passes, ({ pairs }) => pairs),
    nextAt: next.length > 0 ? Math.min(...next) : undefined,
  };
}

// The reports of all kinds in one.
function mergedLists(reports: readonly ListReport[]): ListReport {
  const [first = NO_LIST_REPORT] = reports;
  return {
    ...first,
    entries: sum(reports, ({ entries }) => entries),
    refused: reports.flatMap(({ refused }) => refused),
    absent: reports.flatMap(({ absent }) => absent),
  };
}

// There may be a hundred thousand: one list is not copied.
function joined<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [only, ...others] = lists;
  return only !== undefined && others.length === 0 ? only : lists.flat();
}

function sum<T>(list: readonly T[], of: (each: T) => number): number {
  return list.reduce((total, each) => total + of(each), 0);
}
