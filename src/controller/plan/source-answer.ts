// What its source says of a place that has something of ours: a copy, or a pulling object. Both are asked the same
// questions, in this order:
//   1. the source list, of what an entry made: what it cannot answer changes nothing
//   2. the source: it is not read, refused, being deleted or paused, and nothing changes
//   3. it wants the place; it does not, asks for nothing, or no longer exists, and the place is unwanted
import { because, type Reason } from "../model/reasons.ts";
import {
  readOfNamespace,
  readsOfSourceAndList,
  shownAt,
  sourceGone,
  type AsksFor,
  type RemovalReason,
} from "./removal-conditions.ts";
import type { EntryStatus, SourceStatus } from "../desired/sources.ts";
import { namesNobody, type TargetNamespace } from "../desired/targets.ts";
import { problemText } from "../annotations/rules.ts";
import type { ListState } from "../model/cluster.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { View } from "./view.ts";

/** What is recorded of the source: on a copy, or on a pulling object that is filled. */
export type SourceRecord = {
  readonly source: Ref;
  readonly sourceUid: string | undefined;
} & ListMarks;

/** The place stays as it is. */
export type Hold = {
  readonly kind: "hold";
  readonly verdict: "paused" | "frozen" | "wait";
  readonly reason: Reason;
};
type Unwanted = { readonly kind: "unwanted"; readonly removalReason: RemovalReason };

/** Why a valid source does not want the place. */
export type NotWanted = {
  readonly kind: "notWanted";
  readonly reason: Reason;
  /** Undefined: it has neither annotation. */
  readonly asks: AsksFor | undefined;
  /** What the Namespace says decided. */
  readonly isByNamespace: boolean;
};

/** What a copy and a pulling object answer each in their way. */
export type Questions<W extends { readonly kind: "wanted" }> = {
  readonly record: SourceRecord;
  readonly target: TargetNamespace;
  /** Asked of a source that is valid and not paused. */
  readonly wants: (status: EntryStatus) => W | NotWanted;
};

export function answerOfSource<W extends { readonly kind: "wanted" }>(
  view: View,
  questions: Questions<W>,
  status: SourceStatus,
): W | Hold | Unwanted {
  const { record } = questions;
  const listed = answerOfList(view.sources.list, record.source, record);
  if (listed.kind === "frozen") return hold("frozen", listed.reason);
  const answer = answerByStatus(view, questions, status, listed);
  if (answer.kind !== "unwanted" || listed.kind !== "gone") return answer;
  const { removalReason } = answer;
  const { kind } = removalReason;
  if (kind === "gone" || kind === "nobody") return answer;
  return unwanted({ ...removalReason, kind: "entry" });
}

function answerByStatus<W extends { readonly kind: "wanted" }>(
  view: View,
  questions: Questions<W>,
  status: SourceStatus,
  listed: ListAnswer,
): W | Hold | Unwanted {
  const { source, sourceUid, entry } = questions.record;
  switch (status.kind) {
    case "entry":
      return answerOfEntry(view, questions, status);
    case "frozen":
    case "wait":
      return hold(status.kind, status.reason);
    case "notASource": {
      if (status.uid !== sourceUid) return absent(view, questions.record, status);
      const reason =
        listed.kind === "gone"
          ? listed.reason
          : because("SourceUnannotated", { source: refText(source) });
      const evidence = readsOfSourceAndList(view, source, status, entry);
      return unwanted({ kind: "unannotated", reason, evidence });
    }
    case "absent":
      return absent(view, questions.record, status);
  }
}

function answerOfEntry<W extends { readonly kind: "wanted" }>(
  view: View,
  { record, target, wants }: Questions<W>,
  status: EntryStatus,
): W | Hold | Unwanted {
  const { source, text, frozen } = status.entry;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", because("SourcePaused", { source: text }));
  const answer = wants(status);
  if (answer.kind === "wanted") return answer;
  const { reason, asks, isByNamespace } = answer;
  const reads = readsOfSourceAndList(view, source, source, source.entry, record.entry);
  const evidence = isByNamespace ? [...reads, readOfNamespace(target)] : reads;
  if (!asks) return unwanted({ kind: "unannotated", reason, evidence });
  if (namesNobody(asks.match)) return unwanted({ kind: "nobody", reason, evidence });
  return unwanted({ kind: "narrowed", reason, evidence, asks });
}

function absent(
  view: View,
  { source, sourceUid = "" }: SourceRecord,
  status: SourceStatus,
): Unwanted {
  // A user that looks for the source finds this object.
  const code = shownAt(status) ? "SourceNameTaken" : "SourceGone";
  const reason = because(code, { source: refText(source) });
  return unwanted(sourceGone(view.kind, source, sourceUid, status, reason));
}

export function hold(verdict: Hold["verdict"], reason: Reason): Hold {
  return { kind: "hold", verdict, reason };
}

function unwanted(removalReason: RemovalReason): Unwanted {
  return { kind: "unwanted", removalReason };
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
type ListAnswer =
  | { readonly kind: "kept" }
  | { readonly kind: "gone"; readonly reason: Reason }
  | { readonly kind: "frozen"; readonly reason: Reason };

const LIST_SAYS_NOTHING: ListAnswer = { kind: "kept" };

/** The marks `entry` and `list`. */
type ListMarks = { readonly entry: string | undefined; readonly list: string | undefined };

function answerOfList(
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
