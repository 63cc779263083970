// What a plan says of each source and of namespaces that cannot be understood.
import { because, reasonText } from "../model/reasons.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import type { MissingCopies } from "./missing-copies.ts";
import type { Candidate, PlannedSource } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import {
  type NamespaceReport,
  type SourceReport,
  METRIC_STATES,
  type Tally,
  VERDICTS,
  statesOf,
} from "../model/verdicts.ts";

/** Namespaces whose annotations cannot be understood: the same for every kind. */
export function unclearNamespaces(
  targets: readonly TargetNamespace[],
  { memory, now }: PlanBuilder,
): readonly NamespaceReport[] {
  return targets.flatMap(({ name, accept, namespace: { uid } }) => {
    if (accept.kind !== "problem") return [];
    const since = memory.standing.since(`unclear ${name}`, now);
    return [{ namespace: name, uid, problem: accept.problem, since }];
  });
}

/** An object that only says `on-delete` or `name` is nobody's source. */
export function publishes({ source }: PlannedSource): boolean {
  const { to, allow } = source.rule;
  return to !== undefined || allow !== undefined || source.problems.length > 0;
}

const NOWHERE = reasonText(because("NoTargets"));

const ONLY_NOWHERE: readonly string[] = [NOWHERE];

// Places whose copy is about to be removed are not wanted.
function isNowhere(tally: Tally): boolean {
  return VERDICTS.every(
    (verdict) =>
      tally[verdict] === 0 || verdict === "skip" || verdict === "delete" || verdict === "release",
  );
}

export function reportOf(
  { memory, now }: PlanBuilder,
  { source, content, tally }: PlannedSource,
  candidate: Candidate | undefined,
  missing: MissingCopies,
): SourceReport {
  const nowhere = candidate !== undefined && isNowhere(tally);
  const notes = content?.desiredCopy.notes ?? [];
  const emptied = candidate !== undefined && memory.emptied.has(source.uid);
  const state = source.problems.length > 0 ? "refused" : emptied ? "nowhere" : "ok";
  const states = statesOf(tally);
  const found = METRIC_STATES.filter((each) => states[each] > 0).join(" ");
  const standing = `source ${source.uid} ${state} ${source.rule.paused} ${found}`;
  return {
    kind: source.kind,
    source: { namespace: source.namespace, name: source.name },
    uid: source.uid,
    entry: source.entry?.key,
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
