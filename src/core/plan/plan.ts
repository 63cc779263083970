// World -> Plan: one verdict for every place that a source wants or that one of our copies occupies.
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
// Further: held, paused, frozen, backoff. The table as data is in table.ts; who wants a place is
// decided in targets.ts, whose copy it is in copies.ts, whether it may end in endings.ts. It depends on
// nothing but its arguments, and changes nothing but what `memory` remembers. For a place that is
// current or skipped nothing is allocated.
import { judgeCopy } from "./existing-copies.ts";
import type { Desk } from "./plan-context.ts";
import { Endings } from "./removals.ts";
import type { Memory } from "../state/planner-state.ts";
import type { Secret, Settings, World } from "../model/cluster.ts";
import { Pass } from "./plan-builder.ts";
import { judgePull } from "./pulling-secrets.ts";
import {
  Sources,
  SOURCES_PER_TURN,
  type Contender,
  type Entry,
  type Group,
} from "../desired/sources.ts";
import { addTally, newTally, statesOf } from "../model/tally.ts";
import { BATCH, targetsOf, type Target } from "../desired/targets.ts";
import { Vacancies } from "./missing-copies.ts";
import type { NamespaceReport, Plan, SourceReport } from "../model/verdicts.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";

/** About this many pairs lie between two yields: half a millisecond. */
const PAIRS_PER_TURN = 4096;

/**
 * Yields every few thousand pairs, so that its driver can let the event loop go on; what the cache
 * learns meanwhile is for the next pass. `now`: ms, monotonic; `inFlight`: places ("NAMESPACE/NAME")
 * whose write is under way, for which no action is given.
 */
export function* plan(
  world: World,
  settings: Settings,
  memory: Memory,
  now: number,
  inFlight: ReadonlySet<string>,
): Generator<undefined, Plan> {
  memory.beginPass(now);
  const pass = new Pass(memory, now, inFlight);
  const sources = yield* Sources.of(world, settings);
  pass.sources = Math.max(1, sources.contenders.length);
  const targets = targetsOf(world, settings);
  const byName = new Map(targets.map((target) => [target.name, target]));
  const endings = new Endings(pass, settings);
  const vacancies = new Vacancies(pass, settings);
  const desk = { pass, settings, sources, endings, offerOf: world.offerOf };
  yield* memory.wants.begin(settings, targets, sources.contenders);
  yield* judgePlaces(targets, vacancies, desk);
  // In a namespace that the cache does not know, or that is being deleted, there is no verdict.
  yield* inTurns(world.pulls, pass, (pull) => {
    const target = byName.get(pull.namespace);
    if (target && pull.role === "pull") judgePull(desk, pull, target);
  });
  yield* vacancies.settle();
  yield* endings.settle(memory.deletions);
  yield* settleSources(memory, sources.contenders);
  const actions = yield* pass.actions();
  memory.endPass(inFlight);
  return { ...(yield* report(pass, sources, vacancies)), actions, namespaces: unclear(targets) };
}

// One namespace after the other: its map stays in the processor's cache, which halves the time a pair.
function* judgePlaces(
  targets: readonly Target[],
  vacancies: Vacancies,
  desk: Desk,
): Generator<undefined, void> {
  const { pass } = desk;
  const groups = [...desk.sources.groups()];
  let turn = pass.pairs;
  for (const [index, target] of targets.entries()) {
    if (index % BATCH === 0) yield* ask(desk, targets, index);
    judgeCopies(target, desk);
    judgeVacancies(target, groups, vacancies);
    pass.pairs += desk.sources.contenders.length + target.secrets.size;
    if (pass.pairs - turn < PAIRS_PER_TURN) continue;
    turn = pass.pairs;
    yield;
  }
}

// Each source is asked of a batch of targets at once, while its answers are in the processor's cache.
function ask(
  { pass, sources }: Desk,
  targets: readonly Target[],
  from: number,
): Generator<undefined, void> {
  const batch = targets.slice(from, from + BATCH);
  return pass.memory.wants.ask(sources.contenders, batch, from);
}

// The loops over pairs are no generators themselves: there each step would allocate its result.
function judgeCopies(target: Target, desk: Desk): void {
  for (const secret of target.secrets.values()) {
    if (secret.role !== "copy") continue;
    const group = desk.sources.group(secret.name);
    if (group) group.occupied = target;
    judgeCopy(desk, secret, target, group);
  }
}

function judgeVacancies(target: Target, groups: readonly Group[], vacancies: Vacancies): void {
  for (const group of groups) {
    if (group.occupied === target) continue; // judgeCopies had it
    const { sole, contenders, copyName } = group;
    if (sole && (sole.wanted & target.bit) === 0 && !vacancies.mayOwe(target)) sole.tally.skip++;
    else vacancies.judge(contenders, target, target.secrets.get(copyName));
  }
}

function* inTurns(
  secrets: Iterable<Secret>,
  pass: Pass,
  judge: (secret: Secret) => void,
): Generator<undefined, void> {
  const steps = secrets[Symbol.iterator]();
  while (judgeSome(steps, pass, judge)) yield;
}

function judgeSome(steps: Iterator<Secret>, pass: Pass, judge: (secret: Secret) => void): boolean {
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
  memory: Memory,
  contenders: readonly Contender[],
): Generator<undefined, void> {
  const settled = new Map<string, string>();
  for (const [index, { source, fingerprint, tally }] of contenders.entries()) {
    const unsettled = tally.update + tally.replace + tally.backoff > 0;
    const common = unsettled ? memory.settled.get(source.uid) : fingerprint;
    if (common !== undefined) settled.set(source.uid, common);
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  memory.settled = settled;
}

function* report(
  pass: Pass,
  sources: Sources,
  vacancies: Vacancies,
): Generator<undefined, Omit<Plan, "actions" | "namespaces">> {
  const counts = newTally();
  addTally(counts, pass.orphans);
  const reports: SourceReport[] = [];
  for (const [index, entry] of sources.entries.entries()) {
    addTally(counts, entry.tally);
    const contender = sources.contenderOf(entry.source);
    if (publishes(entry)) reports.push(reportOf(entry, contender, vacancies));
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  return {
    rows: pass.rows,
    sources: reports,
    counts,
    states: statesOf(counts),
    deletesHeld: pass.deletesHeld,
    pairs: pass.pairs,
    nextAt: pass.nextAt,
  };
}

function unclear(targets: readonly Target[]): readonly NamespaceReport[] {
  return targets.flatMap(({ name, accept }) =>
    accept.kind === "problem" ? [{ namespace: name, problem: accept.problem }] : [],
  );
}

// A Secret that only says `on-delete` or `name` is nobody's source.
function publishes({ source }: Entry): boolean {
  const { push, pull } = source.rule;
  return push !== undefined || pull !== undefined || source.problems.length > 0;
}

function reportOf(
  { source, content, tally }: Entry,
  contender: Contender | undefined,
  vacancies: Vacancies,
): SourceReport {
  return {
    source: { namespace: source.namespace, name: source.name },
    uid: source.uid,
    state: source.problems.length > 0 ? "refused" : "ok",
    problems: source.problems,
    paused: source.rule.paused,
    notes: content?.replica.notes ?? [],
    counts: tally,
    ...(contender ? vacancies.fanout(contender) : { fanoutBytes: 0, fanoutHeld: false }),
  };
}
