// What the source that a copy names says of the copy's place: it keeps it, the copy is held as it is, or
// the place is unwanted.
import { because, type Reason } from "../model/reasons.ts";
import { consents } from "./consent.ts";
import {
  sourceGone,
  readOfNamespace,
  readsOfSourceAndList,
  shownAt,
  type RemovalReason,
} from "./removal-conditions.ts";
import { type CopyObject } from "../model/cluster.ts";
import {
  justArrived,
  readAgain,
  type Candidate,
  type PlannedSource,
  type SourceStatus,
} from "../desired/sources.ts";
import { wants } from "../desired/target-batch.ts";
import { acceptance, wantOf, type TargetNamespace } from "../desired/targets.ts";
import { problemText, type OnDelete } from "../annotations/rules.ts";
import { refText } from "../../text/names.ts";
import { unreadableName } from "../model/verdicts.ts";
import { answerOfList, type ListAnswer } from "./listed-copy.ts";
import type { PlanContext } from "./plan-context.ts";

/** What is done with a copy, as its source decides. */
export type CopyDecision =
  | { readonly kind: "keep"; readonly candidate: Candidate }
  | {
      readonly kind: "hold";
      readonly verdict: "paused" | "frozen" | "wait";
      readonly reason: Reason;
    }
  | {
      readonly kind: "unwanted";
      readonly onDelete: OnDelete;
      readonly removalReason: RemovalReason;
    };

export function decideCopy(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  status: SourceStatus,
): CopyDecision {
  if (copy.unknownMark !== undefined) {
    return hold("frozen", because("UnknownMark", { mark: copy.unknownMark }));
  }
  if (target.unreadable.has(copy.name)) return hold("frozen", unreadableName(copy.name));
  if (target.excluded !== undefined) return hold("frozen", target.excluded);
  if (target.accept.kind === "problem") {
    const problem = problemText(target.accept.problem);
    return hold("frozen", because("NamespaceInvalid", { problem }));
  }
  const listed = answerOfList(context.sources.list, copy.source, copy);
  if (listed.kind === "frozen") return hold("frozen", listed.reason);
  const decision = decideByStatus(context, copy, target, status, listed);
  if (decision.kind !== "unwanted") return decision;
  return { ...decision, removalReason: qualified(decision.removalReason, copy, target, listed) };
}

// What else is known of an unwanted place decides how long its copy is held.
function qualified(
  removalReason: RemovalReason,
  { source }: CopyObject,
  target: TargetNamespace,
  listed: ListAnswer,
): RemovalReason {
  const entryRemoved = listed.kind === "gone";
  if (acceptance(refText(source), target.accept) !== "declined")
    return { ...removalReason, entryRemoved };
  const asked = removalReason.follows.some(({ kind }) => kind === "Namespace");
  const follows = asked
    ? removalReason.follows
    : [...removalReason.follows, readOfNamespace(target)];
  return { ...removalReason, follows, declined: true, entryRemoved };
}

function decideByStatus(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  status: SourceStatus,
  listed: ListAnswer,
): CopyDecision {
  switch (status.kind) {
    case "entry":
      return decideByEntry(context, copy, target, status.entry, status);
    case "frozen":
      return hold("frozen", status.reason);
    case "arrivedDuringPlan":
      return hold("wait", justArrived(copy.source));
    case "toBeRead":
      return hold("wait", readAgain(copy.source));
    case "notASource": {
      if (status.uid !== copy.sourceUid) return decideAbsent(context, copy, status);
      const reason =
        listed.kind === "gone"
          ? listed.reason
          : because("SourceUnannotated", { source: refText(copy.source) });
      const asked = readsOfSourceAndList(context, copy.source, status, copy.entry);
      return unwanted(copy.onDelete, reason, asked);
    }
    case "absent":
      return decideAbsent(context, copy, status);
  }
}

function decideByEntry(
  context: PlanContext,
  copy: CopyObject,
  target: TargetNamespace,
  entry: PlannedSource,
  status: Extract<SourceStatus, { kind: "entry" }>,
): CopyDecision {
  const { source, text, frozen } = entry;
  const { candidate } = status;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", because("SourcePaused", { source: text }));
  const named = source.rule.copyName === copy.name;
  if (candidate && named) {
    if (wants(candidate, target)) return { kind: "keep", candidate };
    if (keeps(context, candidate, copy, target)) {
      context.removals.kept(text);
      return { kind: "keep", candidate };
    }
  }
  const want = candidate && named ? wantOf(candidate, target) : "globs";
  // Another object under the source's old name says nothing of the source's copies.
  if (source.uid !== copy.sourceUid) return decideAbsent(context, copy, status);
  const word = source.rule.onDelete ?? (source.rule.to ? "delete" : copy.onDelete);
  const asked = readsOfSourceAndList(context, source, source, source.entry, copy.entry);
  const follows =
    want === "declined" || want === "selector" ? [...asked, readOfNamespace(target)] : asked;
  const reason =
    want === "declined"
      ? because("NotAccepted", { source: text })
      : because("NoLongerWanted", { source: text });
  const { removalReason, ...decision } = unwanted(word, reason, follows);
  return { ...decision, removalReason: { ...removalReason, covered: want === "declined" } };
}

// Under opt-in a namespace that says nothing keeps the copies that are there, and they are kept current.
function keeps(
  { planBuilder }: PlanContext,
  { namespace, to }: Candidate,
  copy: CopyObject,
  target: TargetNamespace,
) {
  return (
    target.accept.kind === "kept" &&
    namespace !== target.name &&
    consents(planBuilder, to, copy, target)
  );
}

function decideAbsent(context: PlanContext, copy: CopyObject, status: SourceStatus): CopyDecision {
  const { source, sourceUid, onDelete } = copy;
  // A user that looks for the source finds this object.
  const code = shownAt(status) ? "SourceNameTaken" : "SourceGone";
  const reason = because(code, { source: refText(source) });
  const removalReason = sourceGone(context, source, sourceUid, status, reason);
  return { kind: "unwanted", onDelete, removalReason };
}

function hold(verdict: "frozen" | "paused" | "wait", reason: Reason): CopyDecision {
  return { kind: "hold", verdict, reason };
}

function unwanted(
  onDelete: OnDelete,
  reason: Reason,
  follows: RemovalReason["follows"],
): Extract<CopyDecision, { kind: "unwanted" }> {
  return { kind: "unwanted", onDelete, removalReason: { cause: "unwanted", reason, follows } };
}
