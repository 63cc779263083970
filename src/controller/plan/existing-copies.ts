// The verdict for a place that one of our copies occupies, whatever brought it there: first what its
// source says of it, then who else wants the place, and only then whether it ends.
//   its source wants the place        current, update, replace, wait
//   paused / refused / unreadable / out of scope / namespace excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   no longer exists                  the source list and an earlier entry of --source-namespaces take the place
//                                     over at once, by one update, and other sources after the hold
//   does not want it                  the strongest other source that wants the place takes it over
//                                     at once; without such a source the copy is removed
import { because, followedBy, reasonText, type Reason } from "../model/reasons.ts";
import {
  readOfNamespace,
  readOfSource,
  readsOfList,
  notConfirmed,
  unconfirmed,
  type RemovalHold,
} from "./removal-conditions.ts";
import { decideCopy, differsFrom, isOthersCopy, type CopyDecision } from "./copy-source.ts";
import type { CopyObject } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { Finding } from "./plan-builder.ts";
import {
  takesPlaces,
  type Candidate,
  type PlannedSource,
  type CandidateGroup,
} from "../desired/sources.ts";
import { isWanted } from "../desired/wants.ts";
import { targetStateOf, wantedVerdict } from "./verdict-table.ts";
import { sourceRank } from "../desired/namespace-rules.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import { refText } from "../../text/names.ts";
import { overFanoutLimit, type CopyPlace, type PlanContext } from "./plan-context.ts";
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
  else planByDecision({ context, copy, target, group: group?.candidates ?? [] });
}

// Almost every copy of a quiet cluster ends here, so nothing is allocated, and of the copy as little is
// read as can be: the long way round gives the same answer.
function isCurrent(
  { template, deleting }: CopyObject,
  target: TargetNamespace,
  only: Candidate,
): boolean {
  return (
    template.fingerprint === only.fingerprint && !deleting && !only.paused && isWanted(only, target)
  );
}

function planByDecision(place: CopyPlace): void {
  const { planBuilder, sources } = place.context;
  const { source, entry } = place.copy.template;
  const status = entry === undefined ? sources.status(source) : sources.statusAnywhere(source);
  const tally = status.kind === "entry" ? status.entry.tally : planBuilder.withoutSource;
  const decision = decideCopy(place, status);
  switch (decision.kind) {
    case "keep":
      if (place.group.length > 1) contest(place, decision.candidate);
      else planKept(place, decision.candidate);
      return;
    case "hold": {
      const { verdict, reason } = decision;
      reportConflicts(place, undefined);
      if (verdict === "frozen" && isOthersCopy(place)) planBuilder.others++;
      else {
        const differs = differsFrom(place.copy, status);
        report(place, { tally, source }, { verdict, reason, differs });
      }
      return;
    }
    case "unwanted":
      handOver(place, decision, tally);
  }
}

function report(
  { context, copy: place }: CopyPlace,
  { tally, source }: Pick<PlannedSource, "tally"> & Pick<Finding, "source">,
  finding: Omit<Finding, "place" | "source">,
): void {
  context.planBuilder.report(tally, { place, source, ...finding });
}

// The same source, but the list now makes it a source, or does not: this follows from the list.
function planKept(place: CopyPlace, holder: Candidate): void {
  const { context, copy } = place;
  const { entry } = holder.source;
  const recorded = copy.template.entry;
  const asked = entry?.key === recorded ? [] : readsOfList(context.sources.list, entry, recorded);
  const hold = unconfirmed(context.planBuilder, because("ListChanged"), asked, copy);
  planUnlessHeld(place, holder, "changed", copy.deleting ? undefined : hold);
}

function planUnlessHeld(
  place: CopyPlace,
  winner: Candidate,
  cause: WriteCause,
  hold: RemovalHold | undefined,
): void {
  if (!hold) planCopy(place, winner, cause);
  else report(place, winner, { verdict: verdictOf(place.copy, winner), ...hold });
}

function verdictOf(copy: CopyObject, { content }: Candidate) {
  return wantedVerdict(targetStateOf(copy, content));
}

// The order of --source-namespaces decides, not who was first. Within one entry of it the holder keeps
// the place. While the stronger source cannot take it, the holder is still served.
function contest(place: CopyPlace, holder: Candidate): void {
  const { copy, target, group } = place;
  const taker = group.find(
    (one) => one.rank < holder.rank && isWanted(one, target) && takesPlaces(one),
  );
  if (!taker || copy.deleting) {
    reportConflicts(place, holder);
    planKept(place, holder);
    return;
  }
  const hold = failingTakeover(place, taker) ?? unreadTakeover(place, taker);
  reportConflicts(place, hold ? holder : taker, taker);
  if (!hold) {
    planCopy(place, taker, "handover");
    return;
  }
  report(place, taker, { ...hold, verdict: "conflict", winner: holder.source });
  planKept(place, holder);
}

type TakeoverHold = Pick<Finding, "reason" | "cause" | "dueAt">;

function failingTakeover(
  { context: { planBuilder }, copy }: CopyPlace,
  { content }: Candidate,
): TakeoverHold | undefined {
  const { backoff } = planBuilder.memory;
  const placeBackoff = backoff.placeBackoff(refText(copy), decisionKeyOf(content));
  if (placeBackoff?.kind !== "failed" || placeBackoff.until <= planBuilder.now) return undefined;
  const { reason, cause, until: dueAt } = placeBackoff;
  return { reason: because("TakeoverFailed", { error: reasonText(reason) }), cause, dueAt };
}

// A take-over follows from what the cache shows of the taker and of the namespace.
function unreadTakeover(
  { context: { planBuilder, sources }, copy, target }: CopyPlace,
  { text, source }: Candidate,
): TakeoverHold | undefined {
  const { source: other, entry } = copy.template;
  const reason = because("TakeoverPending", { source: text, other: refText(other) });
  const asked = [
    readOfSource(planBuilder.kind, source, source),
    readOfNamespace(target),
    ...readsOfList(sources.list, source.entry, entry),
  ];
  return unconfirmed(planBuilder, reason, asked, copy);
}

// The copy's place with the source that has it: the table's upper line.
function planCopy(place: CopyPlace, winner: Candidate, cause: WriteCause): void {
  const { context, copy, target } = place;
  const { planBuilder } = context;
  const { content, tally } = winner;
  const verdict = verdictOf(copy, winner);
  if (verdict === "current") {
    tally.current++;
    return;
  }
  if (verdict === "wait") {
    report(place, winner, { verdict, reason: followedBy(awaited(copy), because("MadeAgain")) });
    return;
  }
  const write = {
    objectKind: planBuilder.kind,
    place: { namespace: copy.namespace, name: copy.name },
    source: { namespace: winner.source.namespace, name: winner.source.name },
    cause: cause === "changed" && isEdited(place, content) ? "edited" : cause,
    decisionKey: decisionKeyOf(content),
    content,
    target: copy,
  } as const;
  const why = because(WHY[write.cause] ?? "SourceChanged");
  if (verdict === "update") {
    planBuilder.propose(tally, verdict, { kind: "update", ...write, reason: why }, target.order);
    return;
  }
  const reason = followedBy(why, unalterable(copy, winner));
  // Where a create would not be made, a crash after the delete would lose the copy.
  if (winner.held) {
    const why = followedBy(reason, overFanoutLimit(context.settings, winner));
    report(place, winner, { verdict: "held", reason: why, differs: true });
    return;
  }
  if (target.accept.kind !== "kept") {
    planBuilder.propose(tally, verdict, { kind: "replace", ...write, reason }, target.order);
    return;
  }
  const keeps = because("CopyOnlyKept", { namespace: target.name, source: winner.text });
  report(place, winner, { verdict: "frozen", reason: followedBy(reason, keeps), differs: true });
}

const WHY: Readonly<Partial<Record<WriteCause, "CopyEdited" | "SourceReplaced">>> = {
  edited: "CopyEdited",
  handover: "SourceReplaced",
};

function unalterable({ template: { type } }: CopyObject, { content }: Candidate): Reason {
  const wanted = content.desiredCopy.type;
  return type === wanted ? because("CopyImmutable") : because("TypeDiffers", { type, wanted });
}

// Somebody changed the copy although its source has not changed since it was written.
function isEdited(
  { context, copy: { template } }: CopyPlace,
  { source, desiredCopy }: Candidate["content"],
): boolean {
  if (template.sourceUid !== source.uid) return false;
  // An older version did not write the list.
  if (template.entry !== undefined && template.list === undefined) return false;
  const settled = context.planBuilder.memory.currentFingerprints.get(source.uid);
  return settled === desiredCopy.fingerprint || template.sourceVersion === source.resourceVersion;
}

function handOver(
  place: CopyPlace,
  { removalReason, onDelete }: CopyDecision & { kind: "unwanted" },
  tally: PlannedSource["tally"],
): void {
  const { context, copy, target, group } = place;
  const successors = group.filter((candidate) => isWanted(candidate, target));
  const successor = successors.find(takesPlaces) ?? successors[0];
  if (!successor) {
    context.removals.add({ copy, tally, order: target.order, removalReason, onDelete });
    return;
  }
  const isGone = removalReason.kind === "gone" && !takesAtOnce(place, successor);
  if (isGone && !copy.deleting && context.removals.keepsPlace({ copy, tally, removalReason })) {
    reportConflicts(place, undefined);
    return;
  }
  reportConflicts(place, successor);
  if (successor.source.rule.paused) {
    const reason = because("SuccessorPaused", { source: successor.text });
    report(place, successor, { verdict: "paused", reason, differs: true });
    return;
  }
  const hold = copy.deleting ? undefined : notConfirmed(context, removalReason, copy);
  planUnlessHeld(place, successor, "handover", hold);
}

// A source that no longer exists keeps its place from the others for the whole wait.
function takesAtOnce({ context, copy }: CopyPlace, { source, rank }: Candidate): boolean {
  if (source.entry) return true;
  const { source: former, entry } = copy.template;
  return entry === undefined && rank < sourceRank(context.settings, former.namespace);
}

// Reports to every other source that wants the place that it is taken.
function reportConflicts(
  place: CopyPlace,
  winner: Candidate | undefined,
  reported?: Candidate,
): void {
  const { source } = place.copy.template;
  const holder = winner?.text ?? refText(source);
  for (const candidate of place.group) {
    if (candidate === winner || candidate === reported || candidate.text === holder) continue;
    if (!isWanted(candidate, place.target)) continue;
    const reason = because("PlaceTaken", { source: holder });
    report(place, candidate, { verdict: "conflict", reason, winner: winner?.source ?? source });
  }
}
