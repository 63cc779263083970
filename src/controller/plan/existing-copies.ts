// The verdict for a place that one of our copies occupies, whatever brought it there: first what its
// source says of it, then who else wants the place, and only then whether it ends.
//   its source wants the place        current, update, replace, wait
//   paused / refused / unreadable / out of scope / namespace excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   absent, within the grace          wait, and it keeps the place
//   gone, or does not want it         the strongest other source that wants the place takes it over
//                                     by one update; without such a source the copy is removed
import { because, followedBy, reasonText, type Reason } from "../model/reasons.ts";
import {
  readOfNamespace,
  readOfSource,
  readsOfList,
  handoverHold,
  unconfirmed,
  type RemovalReason,
} from "./removal-conditions.ts";
import { decideCopy } from "./copy-source.ts";
import { type CopyObject } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { Finding, PlanBuilder } from "./plan-builder.ts";
import {
  type Candidate,
  type PlannedSource,
  type CandidateGroup,
  type SourceStatus,
} from "../desired/sources.ts";
import { isOfOtherInstallation } from "../desired/namespace-rules.ts";
import { wants } from "../desired/target-batch.ts";
import { targetStateOf, wantedVerdict } from "./verdict-table.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import type { OnDelete } from "../annotations/rules.ts";
import { refText } from "../../text/names.ts";
import type { PlanContext } from "./plan-context.ts";
import { type WriteCause, decisionKeyOf } from "../model/actions.ts";

/** `group`: the sources that want places of the copy's name. */
export function planExistingCopy(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: CandidateGroup | undefined,
): void {
  const only = group?.only;
  const isKnown = !target.unreadable.has(copy.name);
  if (only && isKnown && isCurrent(copy, target, only)) only.tally.current++;
  else planByDecision(context, copy, target, group?.candidates ?? []);
}

// Almost every copy of a quiet cluster ends here, so nothing is allocated, and of the copy as little is
// read as can be: the long way round gives the same answer.
function isCurrent(copy: CopyObject, target: TargetNamespace, only: Candidate): boolean {
  return (
    copy.fingerprint === only.fingerprint && !copy.deleting && !only.paused && wants(only, target)
  );
}

function planByDecision(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: readonly Candidate[],
): void {
  const { planBuilder, sources } = context;
  const status =
    copy.entry === undefined ? sources.status(copy.source) : sources.statusAnywhere(copy.source);
  const tally = status.kind === "entry" ? status.entry.tally : planBuilder.withoutSource;
  const decision = decideCopy(context, copy, target, status);
  switch (decision.kind) {
    case "keep":
      if (group.length > 1) contest(context, copy, target, group, decision.candidate);
      else planKept(context, copy, target, decision.candidate);
      return;
    case "hold": {
      const { verdict, reason } = decision;
      reportConflicts(context, copy, target, group, undefined);
      if (verdict === "frozen" && isOthersCopy(context, copy)) {
        planBuilder.others++;
        return;
      }
      const differs = differsFrom(copy, status);
      planBuilder.report(tally, { verdict, place: copy, source: copy.source, reason, differs });
      return;
    }
    case "unwanted":
      handOver(context, copy, target, group, decision.removalReason, decision.onDelete, tally);
  }
}

// An own entry may name a source anywhere.
function isOthersCopy({ settings }: PlanContext, { source, entry, list }: CopyObject): boolean {
  const { ownNamespace, sourceList } = settings;
  const isListed = entry !== undefined && list === `${ownNamespace}/${sourceList}`;
  return !isListed && isOfOtherInstallation(settings, source.namespace);
}

// The same source, but the list now makes it a source, or does not: this follows from the list.
function planKept(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  holder: Candidate,
): void {
  const { planBuilder, sources } = context;
  const { entry } = holder.source;
  const asked = entry?.key === copy.entry ? [] : readsOfList(sources.list, entry, copy.entry);
  const hold = unconfirmed(planBuilder, because("ListChanged"), asked);
  if (!hold || copy.deleting) planCopy(context, copy, target, holder, "changed");
  else {
    const verdict = wantedVerdict(targetStateOf(copy, holder.content));
    planBuilder.report(holder.tally, { verdict, place: copy, source: holder.source, ...hold });
  }
}

/** Whether a copy differs from what its source wants, or undefined where that is unknown. */
function differsFrom(copy: CopyObject, status: SourceStatus): boolean | undefined {
  if (status.kind !== "entry") return undefined;
  const { source, content } = status.entry;
  if (content) return copy.fingerprint !== content.desiredCopy.fingerprint;
  if (source.refusedDigest === undefined) return undefined;
  return copy.sourceUid !== source.uid || copy.dataDigest !== source.refusedDigest;
}

// The order of --source-namespaces decides, not who was first. Within one entry of it the holder keeps
// the place. While the stronger source cannot take it, the holder is still served.
function contest(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: readonly Candidate[],
  holder: Candidate,
): void {
  const { planBuilder } = context;
  const { held } = planBuilder.memory;
  const taker = group.find(
    (one) =>
      one.rank < holder.rank && wants(one, target) && !one.paused && !held.has(one.source.uid),
  );
  if (!taker || copy.deleting) {
    reportConflicts(context, copy, target, group, holder);
    planKept(context, copy, target, holder);
    return;
  }
  const hold =
    failingTakeover(planBuilder, copy, taker) ?? unreadTakeover(context, copy, target, taker);
  reportConflicts(context, copy, target, group, hold ? holder : taker, taker);
  if (!hold) {
    planCopy(context, copy, target, taker, "handover");
    return;
  }
  planBuilder.report(taker.tally, {
    place: copy,
    source: taker.source,
    winner: holder.source,
    ...hold,
  });
  planKept(context, copy, target, holder);
}

type TakeoverHold = Pick<Finding, "verdict" | "reason" | "cause" | "dueAt">;

function failingTakeover(
  planBuilder: PlanBuilder,
  copy: CopyObject,
  taker: Candidate,
): TakeoverHold | undefined {
  const placeBackoff = planBuilder.memory.backoff.placeBackoff(
    refText(copy),
    decisionKeyOf(taker.content),
  );
  if (placeBackoff?.kind !== "failed" || placeBackoff.until <= planBuilder.now) return undefined;
  return {
    verdict: "conflict",
    reason: because("TakeoverFailed", { error: reasonText(placeBackoff.reason) }),
    cause: placeBackoff.cause,
    dueAt: placeBackoff.until,
  };
}

// A take-over follows from what the cache shows of the taker and of the namespace.
function unreadTakeover(
  { planBuilder, sources }: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  taker: Candidate,
) {
  const reason = because("TakeoverPending", { source: taker.text, other: refText(copy.source) });
  const asked = [
    readOfSource(planBuilder.kind, taker.source, taker.source),
    readOfNamespace(target),
    ...readsOfList(sources.list, taker.source.entry, copy.entry),
  ];
  const hold = unconfirmed(planBuilder, reason, asked);
  return hold && { ...hold, verdict: "conflict" as const };
}

// The copy's place with the source that has it: the table's upper line.
function planCopy(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  winner: Candidate,
  cause: WriteCause,
): void {
  const { planBuilder } = context;
  const { content, tally } = winner;
  const verdict = wantedVerdict(targetStateOf(copy, content));
  if (verdict === "current") {
    tally.current++;
    return;
  }
  const write = {
    objectKind: planBuilder.kind,
    place: { namespace: copy.namespace, name: copy.name },
    source: { namespace: winner.source.namespace, name: winner.source.name },
    cause: cause === "changed" && isEdited(context, copy, content) ? "edited" : cause,
    decisionKey: decisionKeyOf(winner.content),
    content,
    target: copy,
  } as const;
  const why = because(WHY[write.cause] ?? "SourceChanged");
  if (verdict === "update") {
    planBuilder.propose(tally, verdict, { kind: "update", ...write, reason: why }, target.order);
  } else if (verdict === "replace") {
    const reason = followedBy(why, unalterable(copy, winner));
    const mustLast = target.accept.kind === "kept";
    const { namespace, name } = copy.source;
    const reservation = {
      kind: planBuilder.kind,
      place: write.place,
      namespaceUid: target.namespace.uid,
      source: { namespace, name },
      copyUid: copy.uid,
      // The next process creates every other copy anyway, and for the same source.
      lasting: mustLast || isContested(context, copy.name),
    };
    const action = { kind: "replace", ...write, reason, reservation, mustLast } as const;
    planBuilder.propose(tally, verdict, action, target.order);
  } else {
    const reason = followedBy(awaited(copy), because("MadeAgain"));
    planBuilder.report(tally, { verdict, place: write.place, source: write.source, reason });
  }
}

function isContested({ sources }: PlanContext, copyName: string): boolean {
  return (sources.group(copyName)?.candidates.length ?? 0) > 1;
}

type WriteReason = "CopyEdited" | "SourceReplaced";
const WHY: Readonly<Partial<Record<WriteCause, WriteReason>>> = {
  edited: "CopyEdited",
  handover: "SourceReplaced",
};

function unalterable(copy: CopyObject, { content }: Candidate): Reason {
  if (copy.type !== content.desiredCopy.type) {
    return because("TypeDiffers", { type: copy.type, wanted: content.desiredCopy.type });
  }
  return because("CopyImmutable");
}

// Somebody changed the copy although its source has not changed since it was written.
function isEdited(
  context: PlanContext,
  copy: CopyObject,
  { source, desiredCopy }: Candidate["content"],
): boolean {
  if (copy.sourceUid !== source.uid) return false;
  // An older version did not write the list.
  if (copy.entry !== undefined && copy.list === undefined) return false;
  const settled = context.planBuilder.memory.settled.get(source.uid);
  return settled === desiredCopy.fingerprint || copy.sourceVersion === source.resourceVersion;
}

function handOver(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: readonly Candidate[],
  removalReason: RemovalReason,
  onDelete: OnDelete,
  tally: PlannedSource["tally"],
): void {
  const { planBuilder, settings, removals } = context;
  const successors = group.filter((candidate) => wants(candidate, target));
  // A paused one takes no place that it does not hold.
  const successor = successors.find(({ paused }) => !paused) ?? successors[0];
  if (!successor) {
    removals.add({ copy, tally, order: target.order, removalReason, onDelete });
    return;
  }
  reportConflicts(context, copy, target, group, successor);
  if (successor.source.rule.paused) {
    const reason = because("SuccessorPaused", { source: successor.text });
    const paused = { verdict: "paused", place: copy, source: successor.source, reason } as const;
    planBuilder.report(successor.tally, { ...paused, differs: true });
    return;
  }
  const hold = copy.deleting ? undefined : handoverHold(planBuilder, settings, removalReason);
  if (!hold) {
    planCopy(context, copy, target, successor, "handover");
    return;
  }
  const verdict = wantedVerdict(targetStateOf(copy, successor.content));
  planBuilder.report(successor.tally, { verdict, place: copy, source: successor.source, ...hold });
}

// Reports to every other source that wants the place that it is taken.
function reportConflicts(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  group: readonly Candidate[],
  winner: Candidate | undefined,
  reported?: Candidate,
): void {
  const holder = winner?.text ?? refText(copy.source);
  for (const candidate of group) {
    if (candidate === winner || candidate === reported || candidate.text === holder) continue;
    if (!wants(candidate, target)) continue;
    const reason = because("PlaceTaken", { source: holder });
    context.planBuilder.report(candidate.tally, {
      verdict: "conflict",
      place: copy,
      source: candidate.source,
      reason,
      winner: winner?.source ?? copy.source,
    });
  }
}
