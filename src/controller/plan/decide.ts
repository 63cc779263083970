// What one place gets, and why. It is pure: it asks the view, and changes nothing. Whether the write may start now is
// for enact.ts. Without a copy there:
//   nobody wants it                   skip
//   several sources want it           the source for which it is reserved, or that its owner lets adopt it, else the
//                                     strongest that takes places
//   an unmanaged object is there      conflict, or adopt
// With one of our copies there, first its source decides (copy-source.ts), then the others that want the place:
//   its source wants the place        current, update, replace, wait; a source of a stronger rank takes it over
//   paused, refused, unreadable, out of scope, or the namespace is excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   no longer exists                  the source list and an earlier entry of --source-namespaces take the place
//                                     over at once, and other sources after the hold
//   does not want it                  the strongest other source takes it over at once by one update; without such a
//                                     source the copy is removed
import { because, followedBy, type Reason } from "../model/reasons.ts";
import {
  readOfNamespace,
  readOfSource,
  readsOfList,
  type RemovalReason,
} from "./removal-conditions.ts";
import { decideCopy, differsFrom, type CopyDecision } from "./copy-source.ts";
import type { CopyObject, PlannerSettings } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { OnDelete } from "../annotations/rules.ts";
import {
  fanoutBytes,
  takesPlaces,
  type Candidate,
  type PlannedSource,
} from "../desired/sources.ts";
import { isWanted } from "../desired/wants.ts";
import {
  adoptionObstacle,
  targetStateOf,
  targetStateWithoutCopy,
  wantedVerdict,
} from "./verdict-table.ts";
import { sourceRank } from "../desired/namespace-rules.ts";
import { placeIn, type TargetNamespace } from "../desired/targets.ts";
import type { CopyPlace, TargetPlace, View } from "./view.ts";
import { unreadableName } from "../model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import { decisionKeyOf, type LiveRead, type WriteCause } from "../model/actions.ts";

/** What live reads must confirm first. `fresh`: an older answer is asked for once more. */
export type Evidence = {
  readonly reads: readonly LiveRead[];
  readonly reason: Reason;
  readonly fresh: boolean;
};

/** The sources that want the place and do not get it: their verdict is `conflict`. */
type Others = {
  readonly losers: readonly Candidate[];
  readonly lost: { readonly reason: Reason; readonly winner: Ref } | undefined;
};

/** Nothing is written. */
export type Stays = Others & {
  readonly kind: "stays";
  readonly verdict: "frozen" | "paused" | "wait" | "conflict" | "held";
  readonly source: Ref;
  /** Undefined: the source is not among those that the sync planned. */
  readonly planned: PlannedSource | undefined;
  readonly reason: Reason;
  readonly differs?: boolean | undefined;
  /** The copy belongs to another installation. */
  readonly isOthers?: boolean;
  readonly isKept?: boolean;
};

/** The source has the place, and its copy is there or is written. */
export type Given = Others & {
  readonly kind: "given";
  readonly verdict: "create" | "current" | "update" | "replace" | "adopt";
  readonly winner: Candidate;
  readonly cause: WriteCause;
  readonly reason: Reason;
  /** Of the decision, without the version of what is there: a failed write is remembered under it. */
  readonly key: string;
  /** The namespace only keeps the copy. */
  readonly isKept: boolean;
  readonly evidence: Evidence | undefined;
  /** What the place gets while the winner cannot take it over. */
  readonly meanwhile?: Decision;
};

/** Nobody wants the copy. */
export type Unwanted = {
  readonly kind: "unwanted";
  readonly onDelete: OnDelete;
  readonly removalReason: RemovalReason;
  readonly planned: PlannedSource | undefined;
};

/** The copy's source no longer exists. After the wait another source gets the place. */
export type Inherited = Others & {
  readonly kind: "inherited";
  readonly removalReason: RemovalReason;
  readonly successor: Stays | Given;
};

export type Decision = { readonly kind: "skip" } | Stays | Given | Unwanted | Inherited;

const SKIP: Decision = { kind: "skip" };
const NOBODY: Others = { losers: [], lost: undefined };

export function decide(view: View, place: TargetPlace): Decision {
  const { present, target, name } = place;
  const group = view.sources.group(name)?.candidates ?? [];
  const wanting = group.filter((candidate) => isWanted(candidate, target));
  return present?.role === "copy"
    ? decideOccupied(view, { target, copy: present }, wanting)
    : decideVacant(view, place, wanting);
}

/**
 * A short cut to what `decide` says of a copy whose name only one source gives. Almost every copy of a quiet cluster is
 * decided here, so nothing is allocated, and of the copy as little is read as can be. A test holds that both agree.
 */
export function isPlainlyCurrent(
  { template, deleting, name }: CopyObject,
  target: TargetNamespace,
  only: Candidate,
): boolean {
  return (
    template.fingerprint === only.fingerprint &&
    !deleting &&
    !only.paused &&
    isWanted(only, target) &&
    !target.unreadable.has(name)
  );
}

/** The strongest source that takes places, or without one the strongest. */
function firstOf(wanting: readonly Candidate[]): Candidate | undefined {
  return wanting.find(takesPlaces) ?? wanting[0];
}

// The order of --source-namespaces decides, not who was first. Within one entry of it the holder keeps the place.
function strongerThan(holder: Candidate, wanting: readonly Candidate[]): Candidate | undefined {
  return wanting.find((one) => one.rank < holder.rank && takesPlaces(one));
}

/** Why the creates of a source are held. */
function overFanoutLimit({ fanoutLimitBytes: limit }: PlannerSettings, source: Candidate): Reason {
  return because("FanoutLimit", { places: source.wantedTotal, bytes: fanoutBytes(source), limit });
}

function stays(
  planned: PlannedSource,
  verdict: Stays["verdict"],
  reason: Reason,
  differs?: boolean,
): Stays {
  return { kind: "stays", verdict, source: planned.source, planned, reason, differs, ...NOBODY };
}

// Without a copy of ours there.

function decideVacant(view: View, place: TargetPlace, wanting: readonly Candidate[]): Decision {
  const first = firstOf(wanting);
  if (!first) return SKIP;
  const winner = reserved(view, place, wanting) ?? adopter(place, wanting) ?? first;
  const code = winner === first ? "OtherSourceFirst" : "PlaceReserved";
  const lost = { reason: because(code, { source: winner.text }), winner: winner.source };
  const losers = wanting.filter((candidate) => candidate !== winner);
  return { ...vacantFor(view, place, winner), losers, lost };
}

// As at a place that has its copy: only a source of a stronger rank comes before the holder.
function reserved(
  { reservedFor }: View,
  { target, name, present }: TargetPlace,
  wanting: readonly Candidate[],
): Candidate | undefined {
  const source = present ? undefined : reservedFor(placeIn(target, name));
  const holder = source && wanting.find(({ text }) => text === refText(source));
  return holder && strongerThan(holder, wanting) ? undefined : holder;
}

function adopter({ present }: TargetPlace, wanting: readonly Candidate[]): Candidate | undefined {
  if (present?.role !== "unmanaged" || present.adopt?.source === undefined) return undefined;
  const text = refText(present.adopt.source);
  return wanting.find((candidate) => candidate.text === text);
}

function vacantFor(
  { settings }: View,
  { target, name, present }: TargetPlace,
  winner: Candidate,
): Stays | Given {
  const { content, text } = winner;
  if (target.unreadable.has(name)) return stays(winner, "frozen", unreadableName(name));
  const obstacle = present && adoptionObstacle(present, content);
  const verdict = wantedVerdict(targetStateWithoutCopy(present), obstacle === undefined);
  if (verdict === "conflict")
    return stays(winner, verdict, obstacle ?? because("PlaceTaken", { source: text }));
  if (winner.paused)
    return stays(winner, "paused", because("SourcePaused", { source: text }), true);
  if (verdict === "create" && winner.overLimit)
    return stays(winner, "held", overFanoutLimit(settings, winner));
  const reason = because(verdict === "adopt" ? "AdoptionAllowed" : "NoCopyYet");
  return given(winner, { verdict, cause: "new", reason });
}

function given(
  winner: Candidate,
  rest: Pick<Given, "verdict" | "cause" | "reason"> & Partial<Given>,
): Given {
  const key = decisionKeyOf(winner.content);
  return { kind: "given", winner, key, isKept: false, evidence: undefined, ...NOBODY, ...rest };
}

// With one of our copies there.

function decideOccupied(view: View, place: CopyPlace, wanting: readonly Candidate[]): Decision {
  const { copy } = place;
  const { source, entry } = copy.template;
  const { sources } = view;
  const status = entry === undefined ? sources.status(source) : sources.statusAnywhere(source);
  const planned = status.kind === "entry" ? status.entry : undefined;
  const decision = decideCopy(view, place, status);
  switch (decision.kind) {
    case "wanted":
      return contest(view, place, decision, wanting);
    case "hold": {
      const { verdict, reason } = decision;
      const isOthers = verdict === "frozen" && sources.isMadeByOther(copy.template);
      const rest = { planned, verdict, reason, isOthers, differs: differsFrom(copy, status) };
      return { kind: "stays", source, ...rest, ...othersThan(undefined, copy, wanting) };
    }
    case "unwanted":
      return handOver(view, place, { ...decision, planned }, wanting);
  }
}

// The sources beside the one that has the place: `winner`, or without one the source that the copy names.
function othersThan(
  winner: Candidate | undefined,
  { template: { source } }: CopyObject,
  wanting: readonly Candidate[],
  reported?: Candidate,
): Others {
  const holder = winner?.text ?? refText(source);
  const losers = wanting.filter((one) => one !== reported && one.text !== holder);
  const reason = because("PlaceTaken", { source: holder });
  return { losers, lost: { reason, winner: winner?.source ?? source } };
}

// While the stronger source cannot take the place, the holder is still served.
function contest(
  view: View,
  place: CopyPlace,
  { candidate: holder, isKept }: CopyDecision & { kind: "wanted" },
  wanting: readonly Candidate[],
): Decision {
  const { copy } = place;
  const kept = keptFor(view, place, holder, isKept);
  const taker = strongerThan(holder, wanting);
  if (!taker || copy.deleting) return { ...kept, ...othersThan(holder, copy, wanting) };
  const taken = occupiedFor(view, place, taker, "handover");
  const others = othersThan(taker, copy, wanting);
  if (taken.kind === "stays") return { ...taken, ...others };
  const meanwhile = { ...kept, ...othersThan(holder, copy, wanting, taker) };
  return { ...taken, ...others, evidence: evidenceOfTakeover(view, place, taker), meanwhile };
}

// A take-over follows from what the cache shows of the taker and of the namespace.
function evidenceOfTakeover(
  { kind, sources }: View,
  { copy, target }: CopyPlace,
  { text, source }: Candidate,
): Evidence {
  const { source: other, entry } = copy.template;
  const reads = [
    readOfSource(kind, source, source),
    readOfNamespace(target),
    ...readsOfList(sources.list, source.entry, entry),
  ];
  const reason = because("TakeoverPending", { source: text, other: refText(other) });
  return { reads, reason, fresh: false };
}

// The same source, but the list now makes it a source, or does not: this follows from the list.
function keptFor(view: View, place: CopyPlace, holder: Candidate, isKept: boolean): Stays | Given {
  const { copy } = place;
  const kept = occupiedFor(view, place, holder, "changed");
  if (kept.kind === "stays") return { ...kept, isKept };
  const { entry } = holder.source;
  const recorded = copy.template.entry;
  if (entry?.key === recorded || copy.deleting) return { ...kept, isKept };
  const reads = readsOfList(view.sources.list, entry, recorded);
  return { ...kept, isKept, evidence: { reads, reason: because("ListChanged"), fresh: false } };
}

// The copy's place with the source that has it: the table's upper line.
function occupiedFor(
  view: View,
  { copy, target }: CopyPlace,
  winner: Candidate,
  why: WriteCause,
): Stays | Given {
  const verdict = wantedVerdict(targetStateOf(copy, winner.content));
  if (verdict === "wait")
    return stays(winner, verdict, followedBy(awaited(copy), because("MadeAgain")));
  const cause = why === "changed" && isEdited(view, copy, winner.content) ? "edited" : why;
  const changed = whyWritten(cause, copy);
  if (verdict !== "replace") return given(winner, { verdict, cause, reason: changed });
  const reason = followedBy(changed, unalterable(copy, winner));
  // Where a create would not be made, a crash after the delete would lose the copy.
  if (winner.overLimit)
    return stays(winner, "held", followedBy(reason, overFanoutLimit(view.settings, winner)), true);
  if (target.accept.kind !== "kept") return given(winner, { verdict, cause, reason });
  const keeps = because("CopyOnlyKept", { source: winner.text });
  return stays(winner, "frozen", followedBy(reason, keeps), true);
}

function whyWritten(cause: WriteCause, { template: { source } }: CopyObject): Reason {
  if (cause === "handover") return because("SourceReplaced", { other: refText(source) });
  return because(cause === "edited" ? "CopyEdited" : "SourceChanged");
}

function unalterable({ template: { type } }: CopyObject, { content }: Candidate): Reason {
  const wanted = content.desiredCopy.type;
  return type === wanted ? because("CopyImmutable") : because("TypeDiffers", { type, wanted });
}

// Somebody changed the copy although its source has not changed since it was written.
function isEdited(
  { settled }: View,
  { template }: CopyObject,
  { source, desiredCopy }: Candidate["content"],
): boolean {
  if (template.sourceUid !== source.uid) return false;
  // An older version did not write the list.
  if (template.entry !== undefined && template.list === undefined) return false;
  return (
    settled.get(source.uid) === desiredCopy.fingerprint ||
    template.sourceVersion === source.resourceVersion
  );
}

function handOver(
  view: View,
  place: CopyPlace,
  unwanted: Unwanted,
  wanting: readonly Candidate[],
): Decision {
  const { copy } = place;
  const next = firstOf(wanting);
  if (!next) return unwanted;
  const { removalReason } = unwanted;
  const others = othersThan(next, copy, wanting);
  const successor = { ...successorFor(view, place, next, removalReason), ...others };
  if (removalReason.kind !== "gone" || copy.deleting || takesAtOnce(view, copy, next))
    return successor;
  return { kind: "inherited", removalReason, successor, ...othersThan(undefined, copy, wanting) };
}

function successorFor(
  view: View,
  place: CopyPlace,
  successor: Candidate,
  { evidence, reason }: RemovalReason,
): Stays | Given {
  if (successor.paused)
    return stays(successor, "paused", because("SuccessorPaused", { source: successor.text }), true);
  if (successor.overLimit && !place.copy.deleting)
    return stays(successor, "held", overFanoutLimit(view.settings, successor), true);
  const taken = occupiedFor(view, place, successor, "handover");
  if (taken.kind === "stays" || place.copy.deleting) return taken;
  return { ...taken, evidence: { reads: evidence, reason, fresh: true } };
}

// A source that no longer exists keeps its place from the others for the whole wait.
function takesAtOnce(
  { settings }: View,
  { template }: CopyObject,
  { source, rank }: Candidate,
): boolean {
  if (source.entry) return true;
  return template.entry === undefined && rank < sourceRank(settings, template.source.namespace);
}
