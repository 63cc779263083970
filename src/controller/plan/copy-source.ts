// What the source that a copy names says of the copy's place: it keeps it, the copy is held as it is, or
// the place is unwanted.
import { because, type Reason } from "../model/reasons.ts";
import {
  sourceGone,
  readOfNamespace,
  readsOfSourceAndList,
  shownAt,
  type RemovalReason,
} from "./removal-conditions.ts";
import type { Candidate, PlannedSource, SourceStatus } from "../desired/sources.ts";
import { isWanted } from "../desired/wants.ts";
import { frozenIn, matchOf, namesNobody } from "../desired/targets.ts";
import { problemText, type OnDelete } from "../annotations/rules.ts";
import type { CopyObject, ListState } from "../model/cluster.ts";
import { isOfOtherInstallation } from "../desired/namespace-rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import { unreadableName } from "../model/verdicts.ts";
import type { CopyPlace, View } from "./view.ts";

/** What is done with a copy, as its source decides. */
export type CopyDecision =
  /** `isKept`: its namespace keeps the copy, although it accepts nothing new. */
  | { readonly kind: "keep"; readonly candidate: Candidate; readonly isKept: boolean }
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

export function decideCopy(view: View, place: CopyPlace, status: SourceStatus): CopyDecision {
  const { copy, target } = place;
  const { unknownMark, source } = copy.template;
  if (unknownMark !== undefined) {
    return hold("frozen", because("UnknownMark", { mark: unknownMark }));
  }
  if (target.unreadable.has(copy.name)) return hold("frozen", unreadableName(copy.name));
  const frozen = frozenIn(target);
  if (frozen !== undefined) return hold("frozen", frozen);
  const listed = answerOfList(view.sources.list, source, copy.template);
  if (listed.kind === "frozen") return hold("frozen", listed.reason);
  const decision = decideByStatus(view, place, status, listed);
  if (decision.kind !== "unwanted") return decision;
  return { ...decision, removalReason: qualified(place, decision.removalReason, listed) };
}

// What else is known of an unwanted place decides how long its copy waits.
function qualified(
  { target }: CopyPlace,
  removalReason: RemovalReason,
  listed: ListAnswer,
): RemovalReason {
  if (target.accept.kind === "none") {
    const { reason, evidence } = removalReason;
    const isRead = evidence.some(({ kind }) => kind === "Namespace");
    const all = isRead ? evidence : [...evidence, readOfNamespace(target)];
    return { kind: "declined", reason, evidence: all };
  }
  const { kind } = removalReason;
  if (listed.kind !== "gone" || kind === "gone" || kind === "nobody") return removalReason;
  return { ...removalReason, kind: "entry" };
}

function decideByStatus(
  view: View,
  place: CopyPlace,
  status: SourceStatus,
  listed: ListAnswer,
): CopyDecision {
  const { source, sourceUid, entry, onDelete } = place.copy.template;
  switch (status.kind) {
    case "entry":
      return decideByEntry(view, place, status.entry, status);
    case "frozen":
    case "wait":
      return hold(status.kind, status.reason);
    case "notASource": {
      if (status.uid !== sourceUid) return decideAbsent(view, place, status);
      const reason =
        listed.kind === "gone"
          ? listed.reason
          : because("SourceUnannotated", { source: refText(source) });
      const evidence = readsOfSourceAndList(view, source, status, entry);
      return {
        kind: "unwanted",
        onDelete,
        removalReason: { kind: "unannotated", reason, evidence },
      };
    }
    case "absent":
      return decideAbsent(view, place, status);
  }
}

function decideByEntry(
  view: View,
  place: CopyPlace,
  { source, text, frozen }: PlannedSource,
  status: Extract<SourceStatus, { kind: "entry" }>,
): CopyDecision {
  const { copy, target } = place;
  const { candidate } = status;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", because("SourcePaused", { source: text }));
  const named = source.rule.copyName === copy.name;
  if (candidate && named) {
    const isKept = !isWanted(candidate, target);
    if (!isKept || keeps(view, place, candidate)) return { kind: "keep", candidate, isKept };
  }
  const match = candidate && named ? matchOf(candidate, target) : "globs";
  const onDelete = source.rule.onDelete ?? (source.rule.to ? "delete" : copy.template.onDelete);
  const reads = readsOfSourceAndList(view, source, source, source.entry, copy.template.entry);
  const declined = match === "declined";
  const evidence = declined || match === "selector" ? [...reads, readOfNamespace(target)] : reads;
  const reason = because(declined ? "NotAccepted" : "NoLongerWanted", { source: text });
  const removalReason = whyUnwanted(view, status, { reason, evidence });
  return { kind: "unwanted", onDelete, removalReason };
}

function whyUnwanted(
  { stillWanted }: View,
  { candidate }: Extract<SourceStatus, { kind: "entry" }>,
  why: Pick<RemovalReason, "reason" | "evidence">,
): RemovalReason {
  if (!candidate) return { kind: "unannotated", ...why };
  if (namesNobody(candidate.to)) return { kind: "nobody", ...why };
  return { kind: "narrowed", left: () => stillWanted(candidate), ...why };
}

// Under opt-in a namespace that says nothing keeps the copies that are there, and they are kept current.
function keeps(view: View, { copy, target }: CopyPlace, { namespace, to }: Candidate): boolean {
  return (
    target.accept.kind === "kept" && namespace !== target.name && view.covers(to, copy, target)
  );
}

function decideAbsent(view: View, { copy }: CopyPlace, status: SourceStatus): CopyDecision {
  const { source, sourceUid, onDelete } = copy.template;
  // A user that looks for the source finds this object.
  const code = shownAt(status) ? "SourceNameTaken" : "SourceGone";
  const reason = because(code, { source: refText(source) });
  const removalReason = sourceGone(view.kind, source, sourceUid, status, reason);
  return { kind: "unwanted", onDelete, removalReason };
}

/** It is another installation's. An own entry may name a source anywhere. */
export function isOthersCopy({ settings }: View, copy: CopyObject): boolean {
  const { source, entry, list } = copy.template;
  const { ownNamespace, sourceList } = settings;
  const isListed = entry !== undefined && list === `${ownNamespace}/${sourceList}`;
  return !isListed && isOfOtherInstallation(settings, source.namespace);
}

/** Whether a copy differs from what its source wants, or undefined where that is unknown. */
export function differsFrom({ template }: CopyObject, status: SourceStatus): boolean | undefined {
  if (status.kind !== "entry") return undefined;
  const { source, content } = status.entry;
  if (content) return template.fingerprint !== content.desiredCopy.fingerprint;
  if (source.refusedDigest === undefined) return undefined;
  return template.sourceUid !== source.uid || template.dataDigest !== source.refusedDigest;
}

function hold(verdict: "frozen" | "paused" | "wait", reason: Reason): CopyDecision {
  return { kind: "hold", verdict, reason };
}

// What the source list says of a copy that an entry made, or of a pulling Secret that an entry filled.
// What the list cannot answer removes nothing.
//   another list made it: it belongs to another installation   it is frozen
//   an older version did not record the list, and the key is
//   not in this list                                            it is frozen
//   the list is deleted, empty, unreadable or turned off        it is frozen
//   its entry is refused                                        it is frozen
//   the list has the entry, and it names the same source        the source decides
//   the list does not have it                                   the source decides, if it is still one by
//                                                               another entry or its own annotations, else
//                                                               the place is unwanted
/** `gone`: under this key the list does not name that source. */
export type ListAnswer =
  | { readonly kind: "kept" }
  | { readonly kind: "gone"; readonly reason: Reason }
  | { readonly kind: "frozen"; readonly reason: Reason };

export const LIST_SAYS_NOTHING: ListAnswer = { kind: "kept" };

/** The marks `entry` and `list`. */
type ListMarks = { readonly entry: string | undefined; readonly list: string | undefined };

export function answerOfList(
  list: ListState | undefined,
  source: Ref,
  { entry: key, list: madeBy }: ListMarks,
): ListAnswer {
  if (key === undefined) return LIST_SAYS_NOTHING;
  if (list?.state !== "read") return frozen(list?.reason ?? because("ListMissing"));
  const own = refText(list.ref);
  if (madeBy !== undefined && madeBy !== own) {
    return frozen(because("EntryOfOtherList", { key, other: madeBy, list: own }));
  }
  if (isEmpty(list)) {
    return frozen(because("ListEmpty", { list: own }));
  }
  const known = list.get(key);
  if (madeBy === undefined && !known) {
    return frozen(because("EntryOfUnknownList", { key, list: own }));
  }
  const problem = known?.problems[0] ?? list.of(source)?.problems[0];
  if (problem) return frozen(because("EntryRefused", { problem: problemText(problem) }));
  if (list.of(source)?.key === key) return LIST_SAYS_NOTHING;
  const reason = because("EntryRemoved", { list: own, key, source: refText(source) });
  return { kind: "gone", reason };
}

function isEmpty(list: ListState & { state: "read" }): boolean {
  return list.entries()[Symbol.iterator]().next().done === true;
}

function frozen(reason: Reason): ListAnswer {
  return { kind: "frozen", reason };
}
