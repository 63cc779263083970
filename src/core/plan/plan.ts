// ClusterState -> Plan: one verdict for every place that a source wants or that one of our copies occupies.
//
//   the Secret at   | absent | ours,     | ours,     | ours, different   | ours, being | not ours
//   the place is -> |        | equal     | different | where the API     | deleted     |
//                   |        |           |           | allows no update  |             |
//   ----------------+--------+-----------+-----------+-------------------+-------------+----------
//   wanted          | create | current   | update    | replace           | wait        | conflict,
//                   |        |           |           |                   |             | or adopt
//   not wanted      | skip   | delete or | delete or | delete or release | wait        | skip
//                   |        | release   | release   |                   |             |
//
// Further: held, paused, frozen, backoff. The table as data is in verdict-table.ts; who wants a place
// is decided in targets.ts, whose copy it is in copy-source.ts, whether it may end in removals.ts. It depends on
// nothing but its arguments, and changes nothing but what `memory` remembers. For a place that is
// current or skipped nothing is allocated.
import { planExistingCopy } from "./existing-copies.ts";
import { IgnoredObjects } from "./ignored-objects.ts";
import { Removals } from "./removals.ts";
import type { PlannerState } from "../state/planner-state.ts";
import type { CachedObject, PlannerSettings, ClusterState } from "../model/cluster.ts";
import { PlanBuilder } from "./plan-builder.ts";
import { planPullingObject } from "./pulling-objects.ts";
import {
  Sources,
  SOURCES_PER_TURN,
  type Candidate,
  type PlannedSource,
  type CandidateGroup,
} from "../desired/sources.ts";
import { BATCH, handle, isHandled, wants } from "../desired/target-batch.ts";
import { targetsOf, type TargetNamespace } from "../desired/targets.ts";
import { unmatchedFlags } from "./unmatched-flags.ts";
import { MissingCopies } from "./missing-copies.ts";
import {
  type NamespaceReport,
  type Plan,
  type SourceReport,
  METRIC_STATES,
  type Tally,
  VERDICTS,
  newTally,
  addTally,
  statesOf,
} from "../model/verdicts.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import type { PlanContext } from "./plan-context.ts";

/** About this many pairs lie between two yields: half a millisecond. */
const PAIRS_PER_TURN = 4096;

/**
 * Yields every few thousand pairs, so that its driver can let the event loop go on; what the cache
 * learns meanwhile is for the next pass. `now`: ms, monotonic; `inFlight`: places ("NAMESPACE/NAME")
 * whose write is under way, for which no action is given.
 */
export function* plan(
  world: ClusterState,
  settings: PlannerSettings,
  memory: PlannerState,
  now: number,
  inFlight: ReadonlySet<string>,
): Generator<undefined, Plan> {
  memory.beginPass(now);
  const pass = new PlanBuilder(memory, now, inFlight);
  const sources = yield* Sources.of(world, settings);
  pass.sources = Math.max(1, sources.candidates.length);
  const targets = targetsOf(world, settings);
  const byName = new Map(targets.map((target) => [target.name, target]));
  const removals = new Removals(pass, settings);
  const missing = new MissingCopies(pass, settings);
  const ignored = new IgnoredObjects();
  const context = { pass, settings, sources, removals, ignored, offerOf: world.offerOf };
  yield* memory.wants.begin(settings, targets, sources.candidates);
  yield* planPlaces(targets, missing, context);
  // In a namespace that the cache does not know, or that is being deleted, there is no verdict.
  yield* inTurns(world.pulls, pass, (pull) => {
    const target = byName.get(pull.namespace);
    if (target && pull.role === "pull") planPullingObject(context, pull, target);
  });
  yield* missing.settle();
  yield* removals.settle(memory.deleteGuard);
  yield* settleSources(memory, sources.candidates);
  const actions = yield* pass.actions();
  memory.endPass(inFlight);
  const namespaces = unclear(targets, pass);
  const flags = yield* unmatchedFlags(world, settings, memory);
  const rest = { actions, namespaces, ignored: ignored.report(namespaces.length, flags) };
  return { ...(yield* report(pass, sources, missing)), ...rest };
}

// One namespace after the other: its map stays in the processor's cache, which halves the time a pair.
function* planPlaces(
  targets: readonly TargetNamespace[],
  missing: MissingCopies,
  context: PlanContext,
): Generator<undefined, void> {
  const { pass } = context;
  const groups = [...context.sources.groups()];
  let turn = pass.pairs;
  for (const [index, target] of targets.entries()) {
    if (index % BATCH === 0) yield* ask(context, targets, index);
    planCopies(target, context);
    planMissing(target, groups, missing);
    pass.pairs += context.sources.candidates.length + target.secrets.size;
    if (pass.pairs - turn < PAIRS_PER_TURN) continue;
    turn = pass.pairs;
    yield;
  }
}

// Each source is asked of a batch of targets at once, while its answers are in the processor's cache.
function ask(
  { pass, sources }: PlanContext,
  targets: readonly TargetNamespace[],
  from: number,
): Generator<undefined, void> {
  const batch = targets.slice(from, from + BATCH);
  return pass.memory.wants.ask(sources.candidates, batch, from);
}

// The loops over pairs are no generators themselves: there each step would allocate its result.
function planCopies(target: TargetNamespace, context: PlanContext): void {
  for (const secret of target.secrets.values()) {
    if (secret.ignored !== undefined) context.ignored.add(secret, secret.ignored);
    if (secret.role !== "copy") continue;
    const group = context.sources.group(secret.name);
    if (group) handle(group, target);
    planExistingCopy(context, secret, target, group);
  }
}

function planMissing(
  target: TargetNamespace,
  groups: readonly CandidateGroup[],
  missing: MissingCopies,
): void {
  for (const group of groups) {
    if (isHandled(group, target)) continue; // planCopies had it
    const { only, candidates, copyName } = group;
    if (only && !wants(only, target) && !missing.mayOwe(target)) only.tally.skip++;
    else missing.judge(candidates, target, target.secrets.get(copyName));
  }
}

function* inTurns(
  secrets: Iterable<CachedObject>,
  pass: PlanBuilder,
  judge: (secret: CachedObject) => void,
): Generator<undefined, void> {
  const steps = secrets[Symbol.iterator]();
  while (planSome(steps, pass, judge)) yield;
}

function planSome(
  steps: Iterator<CachedObject>,
  pass: PlanBuilder,
  judge: (secret: CachedObject) => void,
): boolean {
  for (let count = 0; count < PAIRS_PER_TURN; count++) {
    const step = steps.next();
    if (step.done) return false;
    judge(step.value);
    pass.pairs++;
    if (pass.steps >= STEPS_PER_TURN) break;
  }
  pass.steps = 0;
  return true;
}

// A source none of whose copies is about to be updated has settled: a copy that differs from now on
// was changed by somebody else.
function* settleSources(
  memory: PlannerState,
  candidates: readonly Candidate[],
): Generator<undefined, void> {
  const settled = new Map<string, string>();
  for (const [index, { source, fingerprint, tally }] of candidates.entries()) {
    const unsettled = tally.update + tally.replace + tally.backoff > 0;
    const common = unsettled ? memory.settled.get(source.uid) : fingerprint;
    if (common !== undefined) settled.set(source.uid, common);
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  memory.settled = settled;
}

function* report(
  pass: PlanBuilder,
  sources: Sources,
  missing: MissingCopies,
): Generator<undefined, Omit<Plan, "actions" | "namespaces" | "ignored">> {
  const counts = newTally();
  addTally(counts, pass.withoutSource);
  const reports: SourceReport[] = [];
  for (const [index, entry] of sources.entries.entries()) {
    addTally(counts, entry.tally);
    const candidate = sources.candidateOf(entry.source);
    if (publishes(entry)) reports.push(reportOf(pass, entry, candidate, missing));
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  return {
    rows: pass.rows,
    sources: reports,
    counts,
    states: statesOf(counts),
    deletesHeld: pass.deletesHeld,
    beganAt: pass.memory.beganAt ?? pass.now,
    pairs: pass.pairs,
    nextAt: pass.nextAt,
  };
}

function unclear(
  targets: readonly TargetNamespace[],
  { memory, now }: PlanBuilder,
): readonly NamespaceReport[] {
  return targets.flatMap(({ name, accept, namespace: { uid } }) => {
    if (accept.kind !== "problem") return [];
    const since = memory.standing.since(`unclear ${name}`, now);
    return [{ namespace: name, uid, problem: accept.problem, since }];
  });
}

// A Secret that only says `on-delete` or `name` is nobody's source.
function publishes({ source }: PlannedSource): boolean {
  const { to, allow } = source.rule;
  return to !== undefined || allow !== undefined || source.problems.length > 0;
}

const NOWHERE =
  "no namespace takes a copy: none matches it (to, to-selector), or none that does accepts it";

const ONLY_NOWHERE: readonly string[] = [NOWHERE];

// Places that are about to end are wanted no more.
function isNowhere(tally: Tally): boolean {
  return VERDICTS.every(
    (verdict) =>
      tally[verdict] === 0 || verdict === "skip" || verdict === "delete" || verdict === "release",
  );
}

function reportOf(
  { memory, now }: PlanBuilder,
  { source, content, tally }: PlannedSource,
  candidate: Candidate | undefined,
  missing: MissingCopies,
): SourceReport {
  const nowhere = candidate !== undefined && isNowhere(tally);
  const notes = content?.replica.notes ?? [];
  const state = source.problems.length > 0 ? "refused" : "ok";
  const states = statesOf(tally);
  const found = METRIC_STATES.filter((each) => states[each] > 0).join(" ");
  const standing = `source ${source.uid} ${state} ${source.rule.paused} ${found}`;
  return {
    source: { namespace: source.namespace, name: source.name },
    uid: source.uid,
    state,
    since: memory.standing.since(standing, now),
    problems: source.problems,
    paused: source.rule.paused,
    notes: nowhere ? (notes.length > 0 ? [...notes, NOWHERE] : ONLY_NOWHERE) : notes,
    nowhere,
    counts: tally,
    ...(candidate ? missing.fanout(candidate) : { fanoutBytes: 0, fanoutHeld: false }),
  };
}
