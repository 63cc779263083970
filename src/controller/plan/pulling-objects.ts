// Pulling Secrets: places that their owners open for a source. A source that allows it fills them, through its
// `keys` and then through their own. The cache keeps only digests of them. Where those do not show that a Secret is
// current, a look at the Secret itself (pull-fill.ts) decides what to write, if anything. The Secret belongs to its
// owner: it is never deleted, and content that we did not write stays. What we filled is taken out when consent is
// withdrawn or the source no longer exists. The owner sees one reason for both.
import { because, followedBy, type Reason } from "../model/reasons.ts";
import {
  sourceGone,
  readOfNamespace,
  readsOfSourceAndList,
  type RemovalReason,
} from "./removal-conditions.ts";
import type { PullingObject } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { PlannedSource, SourceStatus } from "../desired/sources.ts";
import { isOfOtherInstallation } from "../desired/namespace-rules.ts";
import { namesNobody, type TargetNamespace } from "../desired/targets.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import { problemText } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { PullResult } from "../state/planner-state.ts";
import { answerOfList, LIST_SAYS_NOTHING } from "./copy-source.ts";
import { consents, type PlanContext } from "./plan-context.ts";
import type { Finding } from "./plan-builder.ts";
import { type Desired, decisionKeyOf } from "../model/actions.ts";
import { noSource, unreadableName, type OwnerNotice } from "../model/verdicts.ts";

type PullPlace = {
  readonly context: PlanContext;
  readonly pull: PullingObject;
  /** The source that it names. */
  readonly from: Ref;
  readonly target: TargetNamespace;
};

export function planPullingObject(
  context: PlanContext,
  pull: PullingObject,
  target: TargetNamespace,
): void {
  const { from } = pull;
  const problem = pull.problems[0];
  const place = { context, pull, from: from ?? pull, target };
  if (from === undefined || problem) {
    const reason = because("PullRefused", { problem: problem ? problemText(problem) : "" });
    noteForOwner(place, "frozen", { kind: "refused", reason });
  } else if (target.unreadable.has(pull.name)) {
    note(place, "frozen", unreadableName(pull.name));
  } else if (pull.deleting) note(place, "wait", awaited(pull));
  else if (target.excluded !== undefined) {
    const notice = { kind: "refused", reason: target.excluded } as const;
    noteForOwner(place, pull.isFilled ? "frozen" : "conflict", notice);
  } else planByList(place);
}

// What an entry filled in stays as long as the list cannot say that it is over.
function planByList(place: PullPlace): void {
  const { pull, from } = place;
  const { settings, sources, planBuilder } = place.context;
  const isByEntry = pull.isFilled && pull.entry !== undefined;
  if (!isByEntry && !sources.entryOf(from) && isOfOtherInstallation(settings, from.namespace)) {
    planBuilder.others++;
    return;
  }
  const listed = isByEntry ? answerOfList(sources.list, from, pull) : LIST_SAYS_NOTHING;
  if (listed.kind === "frozen") note(place, "frozen", listed.reason);
  else planByStatus(place, isByEntry ? sources.statusAnywhere(from) : sources.status(from));
}

type Noted = "frozen" | "wait" | "conflict" | "paused";

function note(
  { context: { planBuilder }, pull, from: source }: PullPlace,
  verdict: Noted,
  reason: Reason,
  rest: Pick<Finding, "differs" | "forOwner"> = {},
): void {
  const place = { namespace: pull.namespace, name: pull.name };
  const finding = { verdict, place, source, reason, pulling: true, ...rest };
  planBuilder.report(planBuilder.withoutSource, finding);
}

/** What follows from the object and its namespace alone. */
function noteForOwner(place: PullPlace, verdict: Noted, forOwner: OwnerNotice): void {
  note(place, verdict, forOwner.reason, { forOwner });
}

function planByStatus(place: PullPlace, status: SourceStatus): void {
  const { context, pull, from } = place;
  switch (status.kind) {
    case "entry":
      planEntry(place, status);
      return;
    case "frozen":
      planFrozen(place, pull.isFilled, status.reason);
      return;
    case "wait":
      note(place, "wait", status.reason);
      return;
    case "notASource":
      if (status.uid === pull.sourceUid) {
        const reads = readsOfSourceAndList(context.view, from, status, pull.entry);
        end(place, { kind: "unannotated", reason: noSource(from), evidence: reads });
      } else planAbsent(place, status);
      return;
    case "absent":
      planAbsent(place, status);
  }
}

// Without anything of the source, nothing is frozen.
function planFrozen(place: PullPlace, isFilledByIt: boolean, reason: Reason): void {
  if (isFilledByIt) note(place, "frozen", reason);
  else note(place, "conflict", noSource(place.from));
}

function planEntry(place: PullPlace, status: Extract<SourceStatus, { kind: "entry" }>): void {
  const { context, pull, from, target } = place;
  const { source, content, frozen, text } = status.entry;
  const mine = source.uid === pull.sourceUid;
  if (frozen !== undefined || content === undefined) {
    planFrozen(place, pull.isFilled && mine, frozen ?? noSource(from));
    return;
  }
  const { allow, paused } = source.rule;
  const allows = allow !== undefined && consents(context.planBuilder, allow, pull, target);
  if (paused && (allows || mine)) {
    const rest = allows ? { differs: differs(place, content) } : {};
    note(place, "paused", because("SourcePaused", { source: text }), rest);
  } else if (allows) fillFrom(place, content);
  else {
    const reads = readsOfSourceAndList(context.view, source, source, source.entry, pull.entry);
    const bySelector = allow?.selector !== undefined;
    const evidence = bySelector ? [...reads, readOfNamespace(target)] : reads;
    end(place, whyNotAllowed(context, status.entry, { reason: noSource(from), evidence }));
  }
}

function whyNotAllowed(
  { removals }: PlanContext,
  { source, text }: PlannedSource,
  why: Pick<RemovalReason, "reason" | "evidence">,
): RemovalReason {
  const { allow } = source.rule;
  if (allow === undefined) return { kind: "unannotated", ...why };
  if (namesNobody(allow)) return { kind: "nobody", ...why };
  return { kind: "narrowed", left: removals.stillAllowed(source, text, allow), ...why };
}

// The source that filled it is absent: it no longer exists, or `from` names another source now.
function planAbsent(place: PullPlace, status: SourceStatus): void {
  const { context, pull, from } = place;
  if (!pull.isFilled) note(place, "conflict", noSource(from));
  else
    end(place, sourceGone(context.view.kind, from, pull.sourceUid ?? "", status, noSource(from)));
}

function end(place: PullPlace, reason: RemovalReason): void {
  const { context, pull, from: source, target } = place;
  if (!pull.isFilled) {
    note(place, "conflict", reason.reason);
    return;
  }
  if (pull.immutable && pull.onDelete !== "keep") {
    note(place, "frozen", followedBy(reason.reason, because("PullImmutable")));
    return;
  }
  const { planBuilder, removals, sources } = context;
  const isEntryGone = answerOfList(sources.list, source, pull).kind === "gone";
  const keepsKind = !isEntryGone || reason.kind === "gone" || reason.kind === "nobody";
  const removalReason = keepsKind ? reason : ({ ...reason, kind: "entry" } as const);
  const { withoutSource: tally } = planBuilder;
  removals.addPull({ pull, source, tally, order: target.order, removalReason });
}

function fillFrom(place: PullPlace, content: Desired): void {
  const { context, pull, from, target } = place;
  const { source } = content;
  const { memory, withoutSource } = context.planBuilder;
  const at = { namespace: pull.namespace, name: pull.name };
  const decisionKey = decisionKeyOf(content);
  if (pull.immutable) {
    const reason = because("PullImmutable");
    noteForOwner(place, pull.isFilled ? "frozen" : "conflict", { kind: "taken", reason });
    return;
  }
  const wanted = content.desiredCopy.type;
  if (pull.type !== wanted && pull.type !== "Opaque") {
    const expected = wanted === "Opaque" ? wanted : `${wanted} or Opaque`;
    const reason = because("PullTypeDiffers", { type: pull.type, expected });
    noteForOwner(place, "conflict", { kind: "taken", reason });
    return;
  }
  const sameFill = memory.lastFills.get(refText(at)) === decisionKey;
  const result = memory.pullResults.get(refText(at));
  const known = result && isOf(result, pull, decisionKey) ? result : undefined;
  if (known?.conflict !== undefined) {
    noteForOwner(place, "conflict", { kind: "taken", reason: known.conflict });
    return;
  }
  if (known || isCurrent(place, content)) {
    withoutSource.current++;
    return;
  }
  // Without a look, however often its owner changes it.
  if (!pull.isFilled && pull.content !== "" && holdsOffer(place, content) === false) {
    const reason = because("OwnContent", { keys: pull.content });
    noteForOwner(place, "conflict", { kind: "taken", reason });
    return;
  }
  const sameVersion =
    pull.sourceUid === source.uid && pull.sourceVersion === source.resourceVersion;
  const edited = sameFill || (pull.isFilled && sameVersion);
  const action = {
    kind: "fill",
    objectKind: pull.kind,
    place: at,
    source: from,
    cause: edited ? "edited" : pull.isFilled ? "changed" : "new",
    reason: because("EntriesDiffer"),
    decisionKey,
    target: pull,
    content,
  } as const;
  context.planBuilder.propose(withoutSource, "update", action, target.order);
}

function isOf(result: PullResult, pull: PullingObject, decisionKey: string): boolean {
  const { uid, resourceVersion } = result;
  const isSame = uid === pull.uid && resourceVersion === pull.resourceVersion;
  return isSame && result.decisionKey === decisionKey;
}

// It is unknown for long keys, and where the source's data are not at hand.
function differs(place: PullPlace, content: Desired): boolean | undefined {
  if (isCurrent(place, content)) return false;
  const { keys } = place.pull;
  return keys !== undefined && keys.text === undefined ? true : undefined;
}

// It holds what the source offers and nothing else, and the record says so.
function isCurrent(place: PullPlace, content: Desired): boolean {
  const { isFilled, sourceUid, entry, list } = place.pull;
  const { source } = content;
  if (!isFilled || sourceUid !== source.uid) return false;
  if (entry !== source.entry?.key || list !== source.entry?.list) return false;
  return holdsOffer(place, content) === true;
}

/** Whether it holds what the source offers and nothing else. Undefined: only a look at it can tell. */
function holdsOffer(
  { context, pull }: PullPlace,
  { source, desiredCopy }: Desired,
): boolean | undefined {
  if (pull.keys === undefined) return undefined;
  if (pull.keys.text === undefined) return pull.dataDigest === desiredCopy.dataDigest;
  const { pullableDigests } = context.planBuilder.memory;
  const before = pullableDigests.get(pull);
  if (before?.desiredCopy === desiredCopy) return before.digest === pull.dataDigest;
  // What it asks of 1,000 entries takes a turn of its own.
  context.planBuilder.steps += STEPS_PER_TURN;
  const digest = context.clusterState.pullableDigestOf(source, pull.keys);
  if (digest === undefined) return undefined;
  pullableDigests.set(pull, { desiredCopy, digest });
  return digest === pull.dataDigest;
}
