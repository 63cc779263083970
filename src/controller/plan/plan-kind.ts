// The plan of one kind of objects: its places, its pulling objects and its sources. For a place that is
// current or skipped nothing is allocated.
import { Creates } from "./creates.ts";
import { decide, isPlainlyCurrent } from "./decide.ts";
import { decidePull } from "./decide-pull.ts";
import type { View } from "./view.ts";
import { enact, enactPull } from "./enact.ts";
import { Removals } from "./removals.ts";
import type { PlannerState } from "../state/planner-state.ts";
import type { CachedObject, CopyObject } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { PlanBuilder, type KindSync } from "./plan-builder.ts";
import type { Proposals } from "./proposals.ts";
import {
  Sources,
  fanoutBytes,
  SOURCES_PER_TURN,
  type Candidate,
  type CandidateGroup,
} from "../desired/sources.ts";
import { isWanted, noteWants } from "../desired/wants.ts";
import { isOfOtherInstallation } from "../desired/namespace-rules.ts";
import { targetsOf, type TargetNamespace } from "../desired/targets.ts";
import type { ListReport, NamespaceReport } from "../model/verdicts.ts";
import { endReservations } from "./reserved-places.ts";
import { readForList } from "./removal-conditions.ts";
import { consents, offerDigest, rememberedOf, type PlanContext } from "./plan-context.ts";
import { reportKind, reportList, unclearNamespaces, type KindReport } from "./plan-reports.ts";

/** Objects of one namespace between two yields: a millisecond, and four where each has a row. */
const OBJECTS_PER_TURN = 1024;

/** What is planned, and what is remembered of it. */
type Subject = Pick<PlanContext, "clusterState" | "settings" | "ignored"> & {
  readonly memory: PlannerState;
};

/** Its parts are run one after the other, each once. */
export class KindPlan {
  readonly planBuilder: PlanBuilder;
  readonly removals: Removals;
  readonly creates: Creates;
  readonly targets: readonly TargetNamespace[];
  readonly #context: PlanContext;

  private constructor(
    sync: KindSync,
    ignored: PlanContext["ignored"],
    targets: readonly TargetNamespace[],
  ) {
    this.planBuilder = sync.planBuilder;
    this.removals = new Removals(sync, targets);
    this.creates = new Creates(sync);
    this.targets = targets;
    const { removals, creates } = this;
    this.#context = { ...sync, removals, creates, ignored, view: viewOf(sync) };
  }

  static *begin(
    subject: Subject,
    now: number,
    proposals: Proposals,
    inFlight: ReadonlySet<string>,
  ): Generator<undefined, KindPlan> {
    const { clusterState, settings, memory, ignored } = subject;
    memory.beginSync(now);
    const planBuilder = new PlanBuilder(
      clusterState.kind,
      memory,
      now,
      proposals,
      placesIn(inFlight, clusterState.kind),
    );
    const sources = yield* Sources.of(clusterState, settings);
    for (const object of sources.toBeRead)
      planBuilder.confirm([readForList(clusterState.kind, object)], object.namespace);
    const targets = targetsOf(clusterState, settings);
    yield* noteWants(sources.candidates, targets);
    for (const candidate of sources.candidates)
      candidate.overLimit = fanoutBytes(candidate) > settings.fanoutLimitBytes;
    return new KindPlan({ planBuilder, settings, sources, clusterState }, ignored, targets);
  }

  /** All that the decisions of this sync follow from. */
  get view(): View {
    return this.#context.view;
  }

  /** How many sources want places. */
  get candidates(): number {
    return this.#context.sources.candidates.length;
  }

  /** In a namespace that the cache does not know, or that is being deleted, there is no verdict. */
  *planPlaces(): Generator<undefined, void> {
    const context = this.#context;
    yield* planPlaces(this.targets, context);
    const byName = new Map(this.targets.map((target) => [target.name, target]));
    yield* endReservations(this.planBuilder, context.sources, byName);
    for (const pull of this.#context.clusterState.pulls) {
      const target = byName.get(pull.namespace);
      if (target && pull.role === "pull") {
        const place = { pull, target };
        enactPull(context, place, decidePull(context.view, place));
      }
      this.planBuilder.pairs++;
      if (this.planBuilder.turnIsOver()) yield;
    }
  }

  settleSources(): Generator<undefined, void> {
    return settleSources(this.planBuilder.memory, this.#context.sources.candidates);
  }

  report(): Generator<undefined, KindReport> {
    return reportKind(this.planBuilder, this.#context.sources);
  }

  list(): ListReport {
    return reportList(this.#context.clusterState, this.#context.sources);
  }

  unclear(): readonly NamespaceReport[] {
    return unclearNamespaces(this.targets, this.planBuilder);
  }
}

function viewOf({ planBuilder, settings, sources, clusterState }: KindSync): View {
  const { kind, memory } = planBuilder;
  return {
    kind,
    settings,
    sources,
    covers: (rule, object, target) => consents(planBuilder, rule, object, target),
    reservedFor: (place) => memory.shared.reservations.sourceAt(kind, place),
    settled: memory.currentFingerprints,
    rememberedOf: (pull) => rememberedOf(memory, pull),
    offerDigest: (pull, content) => offerDigest(planBuilder, clusterState, pull, content),
  };
}

function placesIn(inFlight: ReadonlySet<string>, kind: ObjectKind): ReadonlySet<string> {
  const beginning = placeKey(kind, { namespace: "", name: "" }).slice(0, -1);
  const places = new Set<string>();
  for (const key of inFlight)
    if (key.startsWith(beginning)) places.add(key.slice(beginning.length));
  return places;
}

// One namespace after the other: its map stays in the processor's cache, which halves the time a pair. A
// namespace can have any number of objects, and a source namespace any number of sources.
function* planPlaces(
  targets: readonly TargetNamespace[],
  context: PlanContext,
): Generator<undefined, void> {
  const { planBuilder } = context;
  const groups = [...context.sources.groups()];
  for (const target of targets) {
    const { secrets } = target;
    if (secrets.size <= OBJECTS_PER_TURN) planCopies(secrets.values(), target, context);
    else
      for (const some of chunks(secrets.values())) {
        planCopies(some, target, context);
        yield;
      }
    for (let from = 0; from < groups.length; from += OBJECTS_PER_TURN) {
      if (from > 0) yield;
      planMissing(target, groups, from, context);
    }
    planBuilder.pairs += context.sources.candidates.length + secrets.size;
    if (planBuilder.turnIsOver()) yield;
  }
}

function* chunks<T>(all: Iterable<T>): Generator<readonly T[], void> {
  let chunk: T[] = [];
  for (const each of all) {
    if (chunk.push(each) < OBJECTS_PER_TURN) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

// The loops over pairs are no generators themselves: there each step would allocate its result.
function planCopies(
  secrets: Iterable<CachedObject>,
  target: TargetNamespace,
  context: PlanContext,
): void {
  for (const secret of secrets) {
    if (secret.ignored !== undefined && !isOfOthers(context, secret))
      context.ignored.add(context.planBuilder.kind, secret, secret.ignored);
    if (secret.role !== "copy") continue;
    const group = context.sources.group(secret.name);
    if (group) group.copyIn = target;
    planCopy(context, secret, target, group);
  }
}

function planCopy(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: CandidateGroup | undefined,
): void {
  const only = group?.only;
  if (only && isPlainlyCurrent(copy, target, only)) {
    only.tally.current++;
    return;
  }
  const place = { target, name: copy.name, present: copy };
  enact(context, place, decide(context.view, place));
}

// What another installation reads has its effect there.
function isOfOthers({ settings }: PlanContext, { ignored, namespace }: CachedObject): boolean {
  const { reason } = ignored ?? {};
  const isSource = reason === "namespace" || reason === "unknown";
  return isSource && isOfOtherInstallation(settings, namespace);
}

function planMissing(
  target: TargetNamespace,
  groups: readonly CandidateGroup[],
  from: number,
  context: PlanContext,
): void {
  const end = Math.min(groups.length, from + OBJECTS_PER_TURN);
  for (let at = from; at < end; at++) {
    const group = groups[at];
    if (!group || group.copyIn === target) continue; // planCopies had it
    const { only, copyName: name } = group;
    if (only && !isWanted(only, target)) {
      only.tally.skip++;
      continue;
    }
    if (!only) skipUnwanting(group, target);
    const place = { target, name, present: target.secrets.get(name) };
    enact(context, place, decide(context.view, place));
  }
}

// Counted for each source, whatever the others get there.
function skipUnwanting({ candidates }: CandidateGroup, target: TargetNamespace): void {
  for (const candidate of candidates) if (!isWanted(candidate, target)) candidate.tally.skip++;
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
    const common = unsettled ? memory.currentFingerprints.get(source.uid) : fingerprint;
    if (common !== undefined) settled.set(source.uid, common);
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  memory.currentFingerprints = settled;
}
