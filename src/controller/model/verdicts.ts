// What the planner answers: verdicts, and the reports that logs, metrics, `plan`, `status`, `explain`
// and the status page print. All of it is data. The resulting writes are in actions.ts.
import { because, type Reason } from "./reasons.ts";
import type { Ignored, IgnoredReason } from "../annotations/ignored.ts";
import type { Problem } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import type { Action } from "./actions.ts";
import type { ObjectKind } from "./kinds.ts";

export const METRIC_STATES = [
  "current",
  "pending",
  "conflict",
  "failed",
  "held",
  "paused",
  "frozen",
] as const;
export type MetricState = (typeof METRIC_STATES)[number];

/**
 * Each verdict and its metric state. The metric's labels, the zero counts and the page's states follow
 * from this one table. A skipped place has no copy and is not counted.
 */
const STATE_BY_VERDICT = {
  create: "pending",
  current: "current",
  update: "pending",
  replace: "pending",
  adopt: "pending",
  delete: "pending",
  release: "pending",
  wait: "pending",
  conflict: "conflict",
  skip: undefined,
  held: "held",
  paused: "paused",
  frozen: "frozen",
  backoff: "failed",
} as const satisfies Readonly<Record<string, MetricState | undefined>>;
export type Verdict = keyof typeof STATE_BY_VERDICT;
export const METRIC_STATE: Readonly<Record<Verdict, MetricState | undefined>> = STATE_BY_VERDICT;
/** What is at a place, as one source sees it. */
export const TARGET_STATES = {
  absent: "absent",
  equal: "ours, equal",
  different: "ours, different",
  fixed: "ours, different where the API allows no update (type, immutable)",
  deleting: "ours, being deleted",
  unmanaged: "not ours",
} as const;
export type TargetState = keyof typeof TARGET_STATES;
/** It becomes another state without anybody's doing. */
export function isPending(verdict: Verdict): boolean {
  return METRIC_STATE[verdict] === "pending";
}

export const VERDICTS: readonly Verdict[] = Object.keys(METRIC_STATE).filter(
  (word): word is Verdict => word in METRIC_STATE,
);

/** To the owner of an object that is in the way of `source`, and to who wonders why it is not copied. */
export function offerCommand(kind: ObjectKind, source: string): string {
  return `kubectl annotate ${kind.toLowerCase()} NAME -n NAMESPACE ${annotationKey("adopt")}=${source}`;
}

/** For a source in a namespace that the API server does not let us read. */
export function unreadableReason(ref: Ref): Reason {
  return because("SourceUnreadable", { namespace: ref.namespace, source: refText(ref) });
}

/** For an object of a name of --only-names that the API server does not let us read. */
export function unreadableName(name: string): Reason {
  return because("NameUnreadable", { name });
}

/** One place whose verdict is neither `current` nor `skip`. */
export type Row = {
  readonly verdict: Verdict;
  /** The kind of place and source. */
  readonly kind: ObjectKind;
  readonly place: Ref;
  readonly source: Ref;
  /** Without the place: places of one source with one reason are reported together. */
  readonly reason: Reason;
  /** When it is looked at again without any event (ms, monotonic), or undefined: it waits for nothing. */
  readonly dueAt: number | undefined;
  /** Since when it is so (ms, monotonic). A time not after Plan.beganAt means: perhaps before. */
  readonly since: number;
  /** With `paused` and `frozen`: whether the copy differs from what the source wants, or undefined: unknown. */
  readonly differs: boolean | undefined;
  /** The place is a pulling Secret. */
  readonly pulling: boolean;
  /** With a conflict with another source: the one that has the place. */
  readonly winner: Ref | undefined;
  /** With a pulling object: what its owner may know. Absent: only `noSource`. */
  readonly forOwner?: OwnerNotice | undefined;
  /** The write failed, or others undid it. */
  readonly failure?: RowFailure | undefined;
  /** A removal waits until `dueAt`. */
  readonly removal?: RowRemoval | undefined;
};

export type RowFailure = {
  /** A value of a closed list for the reason. Undefined: others keep changing what is written. */
  readonly cause: string | undefined;
  /** When the write was last tried (ms, monotonic). */
  readonly triedAt: number | undefined;
};

export type RowRemoval = {
  /** What is done with the copy in the end. */
  readonly end: "delete" | "release" | "takeover";
  /** Why it could be a mistake, if it waits for --delete-hold. Then the rest is known too. */
  readonly hold: RemovalHoldCause | undefined;
  /** The key of the source list entry that made the copy. */
  readonly entry?: string | undefined;
  /** The source no longer exists. */
  readonly lost?: boolean;
};

/** A reason that follows from the pulling object and its namespace alone, so its owner may read it. */
export type OwnerNotice = {
  /** `refused`: nothing can be filled. `taken`: content of the owner has the place of an entry. */
  readonly kind: "refused" | "taken";
  readonly reason: Reason;
};

/** To the owner of a pulling object, for whatever is wrong with its source. */
export function noSource(from: Ref): Reason {
  return because("NoSource", { source: refText(from) });
}

/** Why a removal could be a mistake, so that it waits for --delete-hold. */
export type RemovalHoldCause =
  /** The source no longer exists. */
  | "gone"
  /** The source list does not have the entry that made the copy. */
  | "entry"
  /** The source lost the annotations that ask for copies. */
  | "unannotated"
  /** The source lost more than two namespaces within the hold, or wants no more than it lost. */
  | "edit"
  /** The first sync of this process found it so. */
  | "start";

export type VerdictCounts = Readonly<Record<Verdict, number>>;

export type SourceReport = {
  readonly kind: ObjectKind;
  readonly source: Ref;
  readonly uid: string;
  /** Key of the entry of the source list by which it is one. */
  readonly entry: string | undefined;
  readonly state: "ok" | "refused";
  readonly problems: readonly Problem[];
  readonly paused: boolean;
  readonly notes: readonly string[];
  /** It asks for copies, and no namespace takes one. */
  readonly untargeted: boolean;
  readonly counts: VerdictCounts;
  /** Since when its places have been in just these states (ms, monotonic). */
  readonly since: number;
  /** Bytes × places, and whether that is above the limit. */
  readonly fanoutBytes: number;
  readonly fanoutHeld: boolean;
};

/** What a sync found of the source list. `entries`: the number of all its entries. */
export type ListReport = {
  readonly state: "off" | "absent" | "unread" | "read";
  /** Why it is not read. */
  readonly reason: Reason | undefined;
  /** Where it is. */
  readonly ref: Ref | undefined;
  readonly uid: string | undefined;
  readonly entries: number;
  /** Refused, and no source that could be reported so: by key. */
  readonly refused: readonly { readonly key: string; readonly reason: string }[];
  /** Which name an object that is not there, or not read: by key. */
  readonly absent: readonly { readonly key: string; readonly object: Ref }[];
};

export type NamespaceReport = {
  readonly namespace: string;
  readonly uid: string;
  readonly problem: Problem;
  readonly since: number;
};

/** An object that carries annotations of ours which have no effect. */
export type IgnoredObject = {
  readonly kind: ObjectKind;
  readonly object: Ref;
  readonly uid: string;
  readonly ignored: Ignored;
};

export type IgnoredReport = {
  readonly counts: Readonly<Record<IgnoredReason, number>>;
  /** A few of each namespace, the latest first. It does not cover all namespaces. */
  readonly sample: readonly IgnoredObject[];
  /** Entries of flags that match no namespace, as `--FLAG ENTRY`. */
  readonly flags: readonly string[];
};

/** What a plan counts of one kind. A source that lost a place to another one has its conflict there. */
export type KindStates = {
  readonly kind: ObjectKind;
  readonly states: Readonly<Record<MetricState, number>>;
  /** Places of another installation's sources (--other-source-namespaces): frozen, without a row. */
  readonly others: number;
};

/** By whether the namespace of the source publishes otherwise than by `*`, or the source list makes the source. */
export type HeldRemovalCounts = { readonly named: number; readonly any: number };

/** All kinds that take part, together. */
export type Plan = {
  /** Questions first, then creates and updates, youngest namespace first among them, then deletes. */
  readonly actions: readonly Action[];
  readonly rows: readonly Row[];
  readonly sources: readonly SourceReport[];
  readonly kinds: readonly KindStates[];
  readonly counts: VerdictCounts;
  readonly states: Readonly<Record<MetricState, number>>;
  /** When the first sync of this process began (ms, monotonic): what has been so since then was so before. */
  readonly beganAt: number;
  /** Namespaces whose annotations cannot be understood: nothing changes there. */
  readonly namespaces: readonly NamespaceReport[];
  readonly ignored: IgnoredReport;
  readonly list: ListReport;
  /** Removals that wait for --delete-hold. */
  readonly heldRemovals: HeldRemovalCounts;
  /** Pairs looked at. */
  readonly pairs: number;
  /** Earliest time (ms, monotonic) at which something becomes due without any event. */
  readonly nextAt: number | undefined;
};
export type Tally = Record<Verdict, number>;

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}

const NOTHING: Readonly<Tally> = zeros(VERDICTS);

export function newTally(): Tally {
  return { ...NOTHING };
}

export function addTally(into: Tally, tally: Readonly<Tally>): void {
  for (const verdict of VERDICTS) into[verdict] += tally[verdict];
}

export function statesOf(tally: Readonly<Tally>): Record<MetricState, number> {
  const states = zeros(METRIC_STATES);
  for (const verdict of VERDICTS) {
    const state = METRIC_STATE[verdict];
    if (state !== undefined) states[state] += tally[verdict];
  }
  return states;
}
