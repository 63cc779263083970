// What a plan says beside its verdicts: of each source, of namespaces that cannot be understood, of the source list,
// of annotations without effect and of entries of flags that match nothing.
import { IGNORED_REASONS, type Ignored, type IgnoredReason } from "../annotations/ignored.ts";
import { problemText } from "../annotations/rules.ts";
import {
  fanoutBytes,
  SOURCES_PER_TURN,
  type Candidate,
  type PlannedSource,
  type Sources,
} from "../desired/sources.ts";
import { notAllowedAsSource } from "../desired/source-status.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import {
  publishes,
  type CachedObject,
  type ClusterState,
  type PlannerSettings,
} from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import { because, reasonText } from "../model/reasons.ts";
import {
  addTally,
  METRIC_STATES,
  newTally,
  statesOf,
  VERDICTS,
  type IgnoredObject,
  type IgnoredReport,
  type ListReport,
  type NamespaceReport,
  type SourceReport,
  type MetricState,
  type Tally,
  type VerdictCounts,
} from "../model/verdicts.ts";
import type { FlagEntry, SharedState } from "../state/planner-state.ts";
import { NAMESPACE_GLOBS, parseGlobList, type GlobList } from "../../text/globs.ts";
import type { PlanBuilder } from "./plan-builder.ts";

export type KindReport = {
  readonly kind: ObjectKind;
  readonly counts: VerdictCounts;
  readonly states: Readonly<Record<MetricState, number>>;
  readonly others: number;
  readonly sources: readonly SourceReport[];
};

export function* reportKind(
  planBuilder: PlanBuilder,
  sources: Sources,
): Generator<undefined, KindReport> {
  const counts = newTally();
  addTally(counts, planBuilder.withoutSource);
  const reports: SourceReport[] = [];
  for (const [index, entry] of sources.entries.entries()) {
    addTally(counts, entry.tally);
    const candidate = sources.candidateOf(entry.source);
    if (publishes(entry.source)) reports.push(reportOf(planBuilder, entry, candidate));
    if (index % SOURCES_PER_TURN === 0) yield;
  }
  const { kind, others } = planBuilder;
  return { kind, counts, states: statesOf(counts), others, sources: reports };
}

/** Namespaces whose annotations cannot be understood: the same for every kind. */
export function unclearNamespaces(
  targets: readonly TargetNamespace[],
  { memory, now }: PlanBuilder,
): readonly NamespaceReport[] {
  return targets.flatMap(({ name, accept, namespace: { uid } }) => {
    if (accept.kind !== "problem") return [];
    const since = memory.reportedSince.since(`unclear ${name}`, now);
    return [{ namespace: name, uid, problem: accept.problem, since }];
  });
}

const NO_TARGETS = reasonText(because("NoTargets"));

const ONLY_NO_TARGETS: readonly string[] = [NO_TARGETS];

// Places whose copy is about to be removed are not wanted.
function isUntargeted(tally: Tally): boolean {
  return VERDICTS.every(
    (verdict) =>
      tally[verdict] === 0 || verdict === "skip" || verdict === "delete" || verdict === "release",
  );
}

function reportOf(
  { memory, now }: PlanBuilder,
  { source, content, tally }: PlannedSource,
  candidate: Candidate | undefined,
): SourceReport {
  const untargeted = candidate !== undefined && isUntargeted(tally);
  const notes = content?.desiredCopy.notes ?? [];
  const state = source.problems.length > 0 ? "refused" : "ok";
  const states = statesOf(tally);
  const found = METRIC_STATES.filter((each) => states[each] > 0).join(" ");
  const situation = `source ${source.uid} ${state} ${source.rule.paused} ${found}`;
  return {
    kind: source.kind,
    source: { namespace: source.namespace, name: source.name },
    uid: source.uid,
    entry: source.entry?.key,
    state,
    since: memory.reportedSince.since(situation, now),
    problems: source.problems,
    paused: source.rule.paused,
    notes: untargeted ? (notes.length > 0 ? [...notes, NO_TARGETS] : ONLY_NO_TARGETS) : notes,
    untargeted,
    counts: tally,
    fanoutBytes: candidate ? fanoutBytes(candidate) : 0,
    fanoutHeld: candidate?.overLimit === true,
  };
}

// What a sync found of the source list beyond the sources that it makes: entries that are refused before
// there is a source, and entries whose object is not there.
export const NO_LIST_REPORT: ListReport = {
  state: "off",
  reason: undefined,
  ref: undefined,
  uid: undefined,
  entries: 0,
  refused: [],
  absent: [],
};

export function reportList(clusterState: ClusterState, { list }: Sources): ListReport {
  if (!list) return NO_LIST_REPORT;
  if (list.state !== "read") return { ...NO_LIST_REPORT, state: list.state, reason: list.reason };
  const refused: ListReport["refused"][number][] = [];
  const absent: ListReport["absent"][number][] = [];
  let entries = 0;
  for (const entry of list.entries()) {
    const { key, object, problems } = entry;
    // The plan of another kind reports the objects of that kind. The Secrets' plan reports those without a kind.
    if (object ? object.kind !== clusterState.kind : clusterState.kind !== "Secret") continue;
    entries++;
    const cached = object && clusterState.objectsIn(object.namespace).get(object.name);
    // If several entries name one object, only the first reports it.
    if (problems.length > 0 && (cached?.role !== "source" || list.of(cached) !== entry)) {
      refused.push({ key, reason: problems.map(problemText).join("; ") });
    } else if (cached?.role === "copy" || cached?.role === "pull") {
      refused.push({ key, reason: reasonText(notAllowedAsSource(entry, cached)) });
    } else if (object && !cached) {
      absent.push({ key, object: { namespace: object.namespace, name: object.name } });
    }
  }
  const { ref, uid } = list;
  return { state: "read", reason: undefined, ref, uid, entries, refused, absent };
}

// Objects that carry annotations of ours which have no effect, counted over a sync. Anybody can write any
// number of them: by reason they are counted, and by name a few are kept of each namespace, the last
// that came.
const MOST_OF_A_NAMESPACE = 5;
const MOST = 500;

type Recent = {
  readonly kind: ObjectKind;
  readonly cached: CachedObject;
  readonly ignored: Ignored;
};

export class IgnoredObjects {
  readonly #counts = new Map<IgnoredReason, number>();
  readonly #sample: IgnoredObject[] = [];
  /** The ignored objects of the current namespace. */
  #recent: Recent[] = [];
  #namespace = "";

  /** The objects of one namespace are given one after the other. */
  add(kind: ObjectKind, cached: CachedObject, ignored: Ignored): void {
    this.#counts.set(ignored.reason, (this.#counts.get(ignored.reason) ?? 0) + 1);
    if (cached.namespace !== this.#namespace) this.#next(cached.namespace);
    if (this.#sample.length >= MOST) return;
    if (this.#recent.length === MOST_OF_A_NAMESPACE) this.#recent.shift();
    this.#recent.push({ kind, cached, ignored });
  }

  /** `namespaces`: with annotations that are invalid. `flags`: entries that match no namespace. */
  report(namespaces: number, flags: readonly string[]): IgnoredReport {
    this.#next("");
    this.#counts.set("accept", namespaces);
    this.#counts.set("flag", flags.length);
    const counts = IGNORED_REASONS.map(
      (reason) => [reason, this.#counts.get(reason) ?? 0] as const,
    );
    return {
      counts: Object.fromEntries(counts) as IgnoredReport["counts"],
      sample: this.#sample,
      flags,
    };
  }

  #next(namespace: string): void {
    for (const { kind, cached, ignored } of this.#recent.toReversed()) {
      const { namespace: where, name, uid } = cached;
      if (this.#sample.length < MOST)
        this.#sample.push({ kind, object: { namespace: where, name }, uid, ignored });
    }
    this.#recent = [];
    this.#namespace = namespace;
  }
}

// Entries of flags that match no namespace there is: mostly a typo of the administrator's, which freezes
// copies (--source-namespaces) or protects nothing (--exclude-namespaces). A `!` entry guards against
// what need not be there, and is not searched.
const NAMES_PER_TURN = 4096;

/** `--FLAG ENTRY` of each. */
export function* unmatchedFlags(
  clusterState: ClusterState,
  settings: PlannerSettings,
  shared: SharedState,
): Generator<undefined, readonly string[]> {
  const { namespaces } = clusterState;
  if (shared.flags?.of !== settings)
    shared.flags = { of: settings, entries: readEntries(settings) };
  const unmatched: string[] = [];
  let tried = 0;
  for (const entry of shared.flags.entries) {
    if (entry.lastMatch !== undefined && namespaces.has(entry.lastMatch)) continue;
    entry.lastMatch = undefined;
    for (const name of namespaces.keys()) {
      if (++tried % NAMES_PER_TURN === 0) yield;
      if (!entry.list.matches(name)) continue;
      entry.lastMatch = name;
      break;
    }
    if (entry.lastMatch === undefined) unmatched.push(entry.text);
  }
  for (const name of settings.scope?.targets ?? [])
    if (!namespaces.has(name) && clusterState.isUnreadable?.(name) !== true)
      unmatched.push(`--namespaces ${name}`);
  return unmatched;
}

function readEntries(settings: PlannerSettings): readonly FlagEntry[] {
  const { sourceNamespaces, excludeNamespaces, otherSourceNamespaces, scope } = settings;
  return [
    ...positives("source-namespaces", sourceNamespaces),
    ...(excludeNamespaces ? positives("exclude-namespaces", excludeNamespaces) : []),
    // With --namespaces, those of another installation need not be read.
    ...(otherSourceNamespaces && !scope
      ? positives("other-source-namespaces", otherSourceNamespaces)
      : []),
  ];
}

function positives(flag: string, { text }: GlobList): readonly FlagEntry[] {
  return text.split(",").flatMap((raw) => {
    const entry = raw.trim();
    const list = parseGlobList(entry, NAMESPACE_GLOBS);
    if (entry.startsWith("!") || !list.ok) return [];
    return [{ text: `--${flag} ${entry}`, list: list.value, lastMatch: undefined }];
  });
}
