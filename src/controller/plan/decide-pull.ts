// What a pulling object gets, and why: a place that its owner opened for a source. A source that allows it fills it,
// through its `keys` and then through its own. It is pure: it asks the view, and changes nothing. In this order:
//   its own annotations, its namespace or its deletion      frozen, conflict or wait: it stays as it is
//   the source that it names (source-answer.ts)             frozen or paused; or it is over
//   what it holds                                           current, a conflict with content of its owner's, or a fill
// Where the cache's digests do not show that it is current, a look at the object itself (pull-fill.ts) decides what to
// write, if anything. Its owner sees one reason where consent is withdrawn and where the source no longer exists.
import { because, followedBy, type Reason } from "../model/reasons.ts";
import type { RemovalReason } from "./removal-conditions.ts";
import type { PullingObject } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { EntryStatus } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import { problemText } from "../annotations/rules.ts";
import type { Ref } from "../../text/names.ts";
import { answerOfSource, type NotWanted } from "./source-answer.ts";
import { decisionKeyOf, type Desired, type WriteCause } from "../model/actions.ts";
import { noSource, unreadableName, type OwnerNotice } from "../model/verdicts.ts";
import type { View } from "./view.ts";

export type PullPlace = { readonly pull: PullingObject; readonly target: TargetNamespace };

/** Nothing is written. */
type Stays = {
  readonly kind: "stays";
  readonly verdict: "frozen" | "wait" | "conflict" | "paused";
  readonly reason: Reason;
  readonly differs?: boolean | undefined;
  /** What follows from the object and its namespace alone. */
  readonly forOwner?: OwnerNotice;
};

export type PullDecision =
  | Stays
  /** It pulls from another installation's source. */
  | { readonly kind: "others" }
  | { readonly kind: "current" }
  /** It is looked at, and gets what the source offers. */
  | {
      readonly kind: "fill";
      readonly cause: WriteCause;
      readonly content: Desired;
      /** A failed write is remembered under it. */
      readonly key: string;
    }
  /** What was filled is to be taken out. */
  | { readonly kind: "unwanted"; readonly from: Ref; readonly removalReason: RemovalReason };

type Allowed = { readonly kind: "wanted"; readonly content: Desired };

export function decidePull(view: View, place: PullPlace): PullDecision {
  const { pull, target } = place;
  const { from } = pull;
  const problem = pull.problems[0];
  if (from === undefined || problem) {
    const reason = because("PullRefused", { problem: problem ? problemText(problem) : "" });
    return staysForOwner("frozen", { kind: "refused", reason });
  }
  if (target.unreadable.has(pull.name)) return stays("frozen", unreadableName(pull.name));
  if (pull.deleting) return stays("wait", awaited(pull));
  if (target.excluded !== undefined) {
    const verdict = pull.isFilled ? "frozen" : "conflict";
    return staysForOwner(verdict, { kind: "refused", reason: target.excluded });
  }
  return decideBySource(view, place, from);
}

function stays(verdict: Stays["verdict"], reason: Reason, differs?: boolean): Stays {
  return { kind: "stays", verdict, reason, differs };
}

function staysForOwner(verdict: "frozen" | "conflict", forOwner: OwnerNotice): Stays {
  return { kind: "stays", verdict, reason: forOwner.reason, forOwner };
}

function decideBySource(view: View, place: PullPlace, from: Ref): PullDecision {
  const { pull, target } = place;
  const { sources } = view;
  // Without anything of the source, no record counts.
  const { sourceUid, entry, list } = pull.isFilled ? pull : NO_RECORD;
  const record = { source: from, sourceUid, entry, list };
  const status = entry === undefined ? sources.status(from) : sources.statusAnywhere(from);
  const allows = (of: EntryStatus): Allowed | NotWanted => allowedOf(view, place, from, of);
  const answer = answerOfSource(view, { record, target, wants: allows }, status);
  switch (answer.kind) {
    case "wanted":
      return decideFill(view, pull, answer.content);
    case "hold": {
      const { verdict, reason } = answer;
      if (verdict === "frozen" && sources.isMadeByOther(record)) return { kind: "others" };
      const isPaused = verdict === "paused" && status.kind === "entry";
      const content = isPaused ? allowed(allows(status)) : undefined;
      if (content) return stays(verdict, reason, differs(view, pull, content));
      const isOpen = pull.isFilled || verdict === "wait";
      return isOpen ? stays(verdict, reason) : stays("conflict", noSource(from));
    }
    case "unwanted":
      return decideEnd(pull, from, answer.removalReason);
  }
}

const NO_RECORD = { sourceUid: undefined, entry: undefined, list: undefined };

function allowed(answer: Allowed | NotWanted): Desired | undefined {
  return answer.kind === "wanted" ? answer.content : undefined;
}

function allowedOf(
  view: View,
  { pull, target }: PullPlace,
  from: Ref,
  { entry }: EntryStatus,
): Allowed | NotWanted {
  const { source, content } = entry;
  const { allow } = source.rule;
  if (content && allow && view.covers(allow, pull, target)) return { kind: "wanted", content };
  return {
    kind: "notWanted",
    reason: noSource(from),
    asks: allow && { kind: "allow", match: allow, source: entry },
    isByNamespace: allow?.selector !== undefined,
  };
}

function decideEnd(pull: PullingObject, from: Ref, removalReason: RemovalReason): PullDecision {
  const reason = noSource(from);
  if (!pull.isFilled) return stays("conflict", reason);
  if (pull.immutable && pull.onDelete !== "keep")
    return stays("frozen", followedBy(reason, because("PullImmutable")));
  return { kind: "unwanted", from, removalReason: { ...removalReason, reason } };
}

function decideFill(view: View, pull: PullingObject, content: Desired): PullDecision {
  const { isFilled, type } = pull;
  const taken = (reason: Reason, verdict: "conflict" | "frozen" = "conflict"): Stays =>
    staysForOwner(verdict, { kind: "taken", reason });
  if (pull.immutable) return taken(because("PullImmutable"), isFilled ? "frozen" : "conflict");
  const wanted = content.desiredCopy.type;
  if (type !== wanted && type !== "Opaque") {
    const expected = wanted === "Opaque" ? wanted : `${wanted} or Opaque`;
    return taken(because("PullTypeDiffers", { type, expected }));
  }
  const key = decisionKeyOf(content);
  const { lastFill, result } = view.rememberedOf(pull);
  const known = result?.decisionKey === key ? result : undefined;
  if (known?.conflict !== undefined) return taken(known.conflict);
  if (known || isCurrent(view, pull, content)) return { kind: "current" };
  // Without a look, however often its owner changes it.
  if (!isFilled && pull.content !== "" && holdsOffer(view, pull, content) === false)
    return taken(because("OwnContent", { keys: pull.content }));
  const { uid, resourceVersion } = content.source;
  const sameVersion = pull.sourceUid === uid && pull.sourceVersion === resourceVersion;
  const isEdited = lastFill === key || (isFilled && sameVersion);
  const cause = isEdited ? "edited" : isFilled ? "changed" : "new";
  return { kind: "fill", cause, content, key };
}

// It is unknown for long keys, and where the source's data are not at hand.
function differs(view: View, pull: PullingObject, content: Desired): boolean | undefined {
  if (isCurrent(view, pull, content)) return false;
  return pull.keys !== undefined && pull.keys.text === undefined ? true : undefined;
}

// It holds what the source offers and nothing else, and the record says so.
function isCurrent(view: View, pull: PullingObject, content: Desired): boolean {
  const { isFilled, sourceUid, entry, list } = pull;
  const { source } = content;
  if (!isFilled || sourceUid !== source.uid) return false;
  if (entry !== source.entry?.key || list !== source.entry?.list) return false;
  return holdsOffer(view, pull, content) === true;
}

/** Whether it holds what the source offers and nothing else. Undefined: only a look at it can tell. */
function holdsOffer(view: View, pull: PullingObject, content: Desired): boolean | undefined {
  if (pull.keys === undefined) return undefined;
  if (pull.keys.text === undefined) return pull.dataDigest === content.desiredCopy.dataDigest;
  const digest = view.offerDigest(pull, content);
  return digest === undefined ? undefined : digest === pull.dataDigest;
}
