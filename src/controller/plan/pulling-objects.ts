// Pulling Secrets: filled from a source that allows it, through its `keys` and then through their own.
// The cache keeps only digests of them. Where those do not show that a Secret is current, a look at the
// Secret itself (pull-fill.ts) decides what to write, if anything. The Secret belongs to its owner: it is
// never deleted, and the owner's entries survive. What we filled is recorded, and taken out when consent
// is withdrawn or the source no longer exists. The owner sees one reason for both.
import { because, type Reason } from "../model/reasons.ts";
import {
  sourceGone,
  readOfNamespace,
  readsOfSourceAndList,
  type RemovalReason,
} from "./removal-conditions.ts";
import { consents } from "./consent.ts";
import type { PullingObject } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import { justArrived, readAgain, type SourceStatus } from "../desired/sources.ts";
import { isOfOtherInstallation } from "../desired/namespace-rules.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import { problemText } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import { answerOfList, LIST_SAYS_NOTHING } from "./listed-copy.ts";
import type { PlanContext } from "./plan-context.ts";
import type { Finding } from "./plan-builder.ts";
import { type Desired, decisionKeyOf } from "../model/actions.ts";
import { noSource, unreadableName, type OwnerNotice } from "../model/verdicts.ts";

export function planPullingObject(
  context: PlanContext,
  pull: PullingObject,
  target: TargetNamespace,
): void {
  const { from } = pull;
  const problem = pull.problems[0];
  if (from === undefined || problem) {
    const reason = because("PullRefused", { problem: problem ? problemText(problem) : "" });
    noteForOwner(context, pull, from ?? pull, "frozen", { kind: "refused", reason });
  } else if (target.unreadable.has(pull.name)) {
    note(context, pull, from, "frozen", unreadableName(pull.name));
  } else if (pull.deleting) note(context, pull, from, "wait", awaited(pull));
  else if (target.excluded !== undefined) {
    const notice = { kind: "notFilled", reason: target.excluded } as const;
    noteForOwner(context, pull, from, isFilled(pull) ? "frozen" : "conflict", notice);
  } else planByList(context, pull, from, target);
}

// What an entry filled in stays as long as the list cannot say that it is over.
function planByList(
  context: PlanContext,
  pull: PullingObject,
  from: Ref,
  target: TargetNamespace,
): void {
  const { settings, sources } = context;
  const isByEntry = isFilled(pull) && pull.entry !== undefined;
  if (!isByEntry && !sources.entryOf(from) && isOfOtherInstallation(settings, from.namespace)) {
    context.planBuilder.others++;
    return;
  }
  const listed = isByEntry ? answerOfList(sources.list, from, pull) : LIST_SAYS_NOTHING;
  if (listed.kind === "frozen") note(context, pull, from, "frozen", listed.reason);
  else {
    const status = isByEntry ? sources.statusAnywhere(from) : sources.status(from);
    planByStatus(context, pull, from, target, status);
  }
}

type Noted = "frozen" | "wait" | "conflict" | "paused" | "current";

function note(
  context: PlanContext,
  pull: PullingObject,
  source: Ref,
  verdict: Noted,
  reason: Reason,
  { differs, forOwner }: Pick<Finding, "differs" | "forOwner"> = {},
): void {
  const place = { namespace: pull.namespace, name: pull.name };
  context.planBuilder.report(context.planBuilder.withoutSource, {
    verdict,
    place,
    source,
    reason,
    differs,
    pulling: true,
    forOwner,
  });
}

/** What follows from the object and its namespace alone. */
function noteForOwner(
  context: PlanContext,
  pull: PullingObject,
  source: Ref,
  verdict: Noted,
  forOwner: OwnerNotice,
): void {
  note(context, pull, source, verdict, forOwner.reason, { forOwner });
}

function isFilled(pull: PullingObject): boolean {
  return pull.filled > 0;
}

function planByStatus(
  context: PlanContext,
  pull: PullingObject,
  from: Ref,
  target: TargetNamespace,
  status: SourceStatus,
): void {
  switch (status.kind) {
    case "entry":
      planEntry(context, pull, from, target, status);
      return;
    case "frozen":
      if (isFilled(pull)) note(context, pull, from, "frozen", status.reason);
      else note(context, pull, from, "conflict", noSource(from));
      return;
    case "arrivedDuringPlan":
      note(context, pull, from, "wait", justArrived(from));
      return;
    case "toBeRead":
      note(context, pull, from, "wait", readAgain(from));
      return;
    case "notASource":
      if (status.uid === pull.sourceUid) {
        const asked = readsOfSourceAndList(context, from, status, pull.entry);
        end(context, pull, from, target, unwanted(from, asked));
      } else planAbsent(context, pull, from, target, status);
      return;
    case "absent":
      planAbsent(context, pull, from, target, status);
  }
}

function planEntry(
  context: PlanContext,
  pull: PullingObject,
  from: Ref,
  target: TargetNamespace,
  status: Extract<SourceStatus, { kind: "entry" }>,
): void {
  const { entry } = status;
  const { source, content, frozen } = entry;
  const mine = source.uid === pull.sourceUid;
  if (frozen !== undefined || content === undefined) {
    if (isFilled(pull) && mine) note(context, pull, from, "frozen", frozen ?? noSource(from));
    else note(context, pull, from, "conflict", noSource(from));
    return;
  }
  const { allow: allowed, paused } = source.rule;
  const allows = allowed !== undefined && consents(context.planBuilder, allowed, pull, target);
  if (allows && paused)
    note(context, pull, from, "paused", because("SourcePaused", { source: entry.text }), {
      differs: differs(context, pull, content),
    });
  else if (allows) fillFrom(context, pull, from, target, content);
  else if (mine && paused)
    note(context, pull, from, "paused", because("SourcePaused", { source: entry.text }));
  else if (mine) {
    const bySelector = allowed?.selector !== undefined;
    const asked = readsOfSourceAndList(context, source, source, source.entry, pull.entry);
    const follows = bySelector ? [...asked, readOfNamespace(target)] : asked;
    end(context, pull, from, target, unwanted(from, follows));
  } else planAbsent(context, pull, from, target, status);
}

function unwanted(from: Ref, follows: RemovalReason["follows"]): RemovalReason {
  return { cause: "unwanted", reason: noSource(from), follows };
}

// The source that filled it is absent: it no longer exists, or `from` names another source now.
function planAbsent(
  context: PlanContext,
  pull: PullingObject,
  from: Ref,
  target: TargetNamespace,
  status: SourceStatus,
): void {
  if (!isFilled(pull)) {
    note(context, pull, from, "conflict", noSource(from));
    return;
  }
  const uid = pull.sourceUid ?? "";
  end(context, pull, from, target, sourceGone(context, from, uid, status, noSource(from)));
}

function end(
  context: PlanContext,
  pull: PullingObject,
  source: Ref,
  target: TargetNamespace,
  removalReason: RemovalReason,
): void {
  if (!isFilled(pull) || pull.onDelete === "keep") {
    note(context, pull, source, "conflict", removalReason.reason);
    return;
  }
  const { planBuilder, removals, sources } = context;
  const { order } = target;
  const entryRemoved = answerOfList(sources.list, source, pull).kind === "gone";
  const qualified = { ...removalReason, entryRemoved };
  removals.addPull({
    pull,
    source,
    tally: planBuilder.withoutSource,
    order,
    removalReason: qualified,
  });
}

function fillFrom(
  context: PlanContext,
  pull: PullingObject,
  from: Ref,
  target: TargetNamespace,
  content: Desired,
): void {
  const { source } = content;
  const { memory } = context.planBuilder;
  const place = { namespace: pull.namespace, name: pull.name };
  const decisionKey = decisionKeyOf(content);
  const sameFill = memory.backoff.lastFill(refText(place)) === decisionKey;
  const known = memory.resolutions.of(refText(place), pull, decisionKey);
  if (known?.conflict !== undefined) {
    const notice = {
      kind: "notFilled",
      reason: known.conflict,
    } as const;
    noteForOwner(context, pull, from, "conflict", notice);
    return;
  }
  if (known || isCurrent(context, pull, content)) {
    context.planBuilder.withoutSource.current++;
    return;
  }
  const sameVersion =
    pull.sourceUid === source.uid && pull.sourceVersion === source.resourceVersion;
  const edited = sameFill || (isFilled(pull) && sameVersion);
  const action = {
    kind: "fill",
    objectKind: pull.kind,
    place,
    source: from,
    cause: edited ? "edited" : isFilled(pull) ? "changed" : "new",
    reason: because("EntriesDiffer"),
    decisionKey,
    target: pull,
    content,
  } as const;
  context.planBuilder.propose(context.planBuilder.withoutSource, "update", action, target.order);
}

// It is unknown for long keys, and where the source's data are not at hand.
function differs(context: PlanContext, pull: PullingObject, content: Desired): boolean | undefined {
  if (isCurrent(context, pull, content)) return false;
  return pull.keys !== undefined && pull.keys.text === undefined ? true : undefined;
}

// All that the source offers is there and recorded as ours, and nothing else is recorded.
function isCurrent(
  context: PlanContext,
  pull: PullingObject,
  { source, desiredCopy }: Desired,
): boolean {
  if (pull.sourceUid !== source.uid || pull.keys === undefined) return false;
  const { entry } = source;
  if (isFilled(pull) && (pull.entry !== entry?.key || pull.list !== entry?.list)) return false;
  if (pull.keys.text === undefined) return pull.filledDigest === desiredCopy.dataDigest;
  const { offers } = context.planBuilder.memory;
  const before = offers.get(pull);
  if (before?.desiredCopy === desiredCopy) return before.digest === pull.filledDigest;
  // What it asks of 1,000 entries takes a turn of its own.
  context.planBuilder.steps += STEPS_PER_TURN;
  const digest = context.offerOf(source, pull.keys);
  if (digest === undefined) return false;
  offers.set(pull, { desiredCopy, digest });
  return digest === pull.filledDigest;
}
