// Every object that holds the value of a source: the source, its copies, and the pulling objects that it
// filled. Each is current only if the explanation says so and its content equals the source's.
import { refText, type Ref } from "../../text/names.ts";
import type {
  CachedObject,
  ClusterState,
  CopyObject,
  PullingObject,
  SourceObject,
} from "../../controller/model/cluster.ts";
import type { ExplainedVerdict, PlaceAnswer } from "../explanation/answer.ts";
import type { ObjectValue } from "./held-value.ts";

export type PlaceRole = "source" | "copy" | "pulling" | "former";

/** What only a rotation reads of an object. */
export type ObservedObject = {
  /** Since when it has its data, or undefined: unknown. */
  readonly since: number | undefined;
  readonly isImmutable: boolean;
  /** Names of its entries. */
  readonly keys: ReadonlySet<string>;
  /** It has no entries, or none with more than its type requires. */
  readonly isEmpty: boolean;
  /** Its managedFields say that secretcast wrote an entry that it has. */
  readonly isWrittenByUs: boolean;
  /** NAMESPACE/NAME in its mark, whether or not it is a copy. */
  readonly markedSource: string | undefined;
  /** The UID of the source that filled it, whether or not it still has `from` or what was filled in. */
  readonly filledBy: string | undefined;
};

export type RotationPlace = Ref & {
  readonly role: PlaceRole;
  readonly verdict: ExplainedVerdict | "refused";
  readonly code: string | undefined;
  readonly reason: string;
  /** It has the source's present value and keeps it. */
  readonly isCurrent: boolean;
  /** What Pods that use it started with, or undefined: there is nothing of the source's. */
  readonly value: ObjectValue | undefined;
};

export type PlacesInput = {
  readonly clusterState: ClusterState;
  readonly source: SourceObject;
  /** The explanation of the source. */
  readonly answers: readonly PlaceAnswer[];
  /** All objects of the kind. */
  readonly objects: Iterable<CachedObject>;
  readonly observed: (object: CachedObject) => ObservedObject | undefined;
  /** Objects with marks of the source that the flags leave out, so that nothing else is known of them. */
  readonly leftOut: readonly Ref[];
  /** Why a namespace could not be read. Undefined: it was. */
  readonly unread: (namespace: string) => string | undefined;
  /** How long a copy may have stayed after its source had changed. In seconds. */
  readonly longestWait: number;
};

export function rotationPlaces(input: PlacesInput): readonly RotationPlace[] {
  const { clusterState, source, answers, objects } = input;
  const places = new Map([[refText(source), sourcePlace(input)]]);
  for (const answer of answers) {
    const object = clusterState.objectsIn(answer.place.namespace).get(answer.place.name);
    const place = answeredPlace(input, answer, object);
    if (place) places.set(refText(place), place);
  }
  const all = [...objects];
  const uids = new Set(all.flatMap((object) => (object.role === "source" ? [object.uid] : [])));
  for (const object of all) {
    if (places.has(refText(object)) || object.role === "source") continue;
    const place = recordedPlace(object, uids, input);
    if (place) places.set(refText(object), place);
  }
  for (const object of input.leftOut)
    places.set(refText(object), notKept(object, "copy", LEFT_OUT));
  return [...places.values()].toSorted(inOrder);
}

function sourcePlace({ source, observed }: PlacesInput): RotationPlace {
  const { namespace, name, desiredCopy, deleting } = source;
  const state = desiredCopy === undefined ? REFUSED : deleting ? DELETING : ITSELF;
  const value = presentValue(observed(source));
  const isCurrent = state === ITSELF;
  return { namespace, name, role: "source", ...state, isCurrent, value };
}

const REFUSED = {
  verdict: "refused",
  code: "SourceRefused",
  reason: "the source is refused: its copies do not follow it",
} as const;
const DELETING = {
  verdict: "wait",
  code: "SourceDeleting",
  reason: "the source is being deleted",
} as const;
const ITSELF = { verdict: "current", code: "Source", reason: "the source itself" } as const;

function answeredPlace(
  input: PlacesInput,
  { place, verdict, code, reason, pulling }: PlaceAnswer,
  object: CachedObject | undefined,
): RotationPlace | undefined {
  const placed = (
    role: PlaceRole,
    isCurrent: boolean,
    value: ObjectValue | undefined,
  ): RotationPlace => {
    const state = verdict === "current" && !isCurrent ? UNEQUAL : { verdict, code, reason };
    return { namespace: place.namespace, name: place.name, role, ...state, isCurrent, value };
  };
  if (pulling) {
    if (object?.role !== "pull" || (!object.isFilled && isNobodys(code))) return undefined;
    const isPresent = object.isFilled && isFilledWith(object, input, verdict);
    const observed = input.observed(object);
    // What was filled before and kept may be any value of the source.
    const isKept = observed?.filledBy !== undefined && !observed.isEmpty;
    const isOurs = object.isFilled || isKept;
    const value = isOurs ? valueOf(isPresent, observed) : otherValue(object, input);
    return placed("pulling", verdict === "current" && isPresent, value);
  }
  const copy = object?.role === "copy" && isCopyOf(object, input.source) ? object : undefined;
  if (verdict === "skip") return copy && strayPlace(copy, input);
  const isPresent = copy?.template.dataDigest === input.source.desiredCopy?.dataDigest;
  const isCurrent = verdict === "current" && copy !== undefined && isPresent;
  const value = copy ? valueOf(isPresent, input.observed(copy)) : formerValue(place, input);
  return placed("copy", isCurrent, value);
}

const UNEQUAL = {
  verdict: "unknown",
  code: "ContentUnknown",
  reason: "whether its content is the source's is not known",
} as const;

/** Any user may write `from`. What the source does not fill holds nothing of it. */
const OF_NOBODY: readonly (string | undefined)[] = [
  "NoSource",
  "PullRefused",
  "NamespaceExcluded",
  "NameUnreadable",
];

function isNobodys(code: string | undefined): boolean {
  return OF_NOBODY.includes(code);
}

function isFilledWith(
  pull: PullingObject,
  { clusterState, source }: PlacesInput,
  verdict: ExplainedVerdict,
): boolean {
  if (verdict === "current") return true;
  if (pull.keys === undefined || pull.sourceUid !== source.uid) return false;
  const offer =
    pull.keys.text === undefined
      ? source.desiredCopy?.dataDigest
      : clusterState.pullableDigestOf(source, pull.keys);
  return offer === pull.dataDigest;
}

function isCopyOf(copy: CopyObject, source: Ref): boolean {
  return refText(copy.template.source) === refText(source);
}

/**
 * Of an object that the explanation does not know as a place of the source, and that records a source: this
 * one, or one with a UID that no source has, which may have been this one before it was created again.
 */
function recordedPlace(
  object: Exclude<CachedObject, SourceObject>,
  uids: ReadonlySet<string>,
  input: PlacesInput,
): RotationPlace | undefined {
  const { source, observed } = input;
  const { markedSource, filledBy, isEmpty = false } = observed(object) ?? {};
  if (markedSource !== undefined && markedSource === refText(source))
    return strayPlace(object, input);
  const isRecorded = filledBy !== undefined && (filledBy === source.uid || !uids.has(filledBy));
  if (isRecorded && !isEmpty) return strayPlace(object, input);
  const isAskedFor =
    object.role === "pull" && object.from !== undefined && refText(object.from) === refText(source);
  if (!isRecorded && !isAskedFor) return undefined;
  return { ...formerPlace(object), value: otherValue(object, input) };
}

const LEFT_OUT =
  "the flags leave out its namespace or its name: the controller does not change it any more";

function strayPlace(object: CachedObject, input: PlacesInput): RotationPlace {
  const { source, observed, unread } = input;
  const why = unread(object.namespace);
  if (object.role === "copy" && why !== undefined) return unreadPlace(object, why, input);
  if (object.role === "copy") return notKept(object, "copy", OF_ANOTHER);
  const { filledBy } = observed(object) ?? {};
  if (filledBy !== undefined && filledBy !== source.uid)
    return notKept(object, "pulling", FILLED_BY_FORMER);
  if (object.role === "pull" && object.isFilled)
    return notKept(object, "pulling", "this source filled it, and it pulls from another one now");
  if (filledBy === source.uid) return notKept(object, "pulling", FILLED_BEFORE);
  return notKept(object, "copy", MARKED);
}

const OF_ANOTHER = "a copy of this source that another source or another installation has now";
const FILLED_BEFORE =
  "this source filled it, and nothing keeps it current any more: if its owner has replaced the entries, remove `secretcast.io/source-uid`";
const FILLED_BY_FORMER =
  "a source that is not there any more filled it, and may have been this one: if its owner has replaced the entries, remove `secretcast.io/source-uid`";
const WRITTEN =
  "secretcast wrote what it has, and it is not a copy any more: it was released or edited";
const MARKED =
  "it has marks of a copy of this source but is not one: it was moved, restored or edited";

/** Whether a copy is to stay as it is follows from its namespace. What it has is known. */
function unreadPlace(
  copy: CopyObject,
  reason: string,
  { source, observed }: PlacesInput,
): RotationPlace {
  const { namespace, name } = copy;
  const isCurrent = copy.template.dataDigest === source.desiredCopy?.dataDigest;
  const [code, value] = ["NamespaceUnread", valueOf(isCurrent, observed(copy))];
  return { namespace, name, role: "copy", verdict: "unknown", code, reason, isCurrent, value };
}

function notKept({ namespace, name }: Ref, role: PlaceRole, reason: string): RotationPlace {
  const [code, value] = ["NotKept", { kind: "older" }] as const;
  return { namespace, name, role, verdict: "unknown", code, reason, isCurrent: false, value };
}

/** A place that has nothing of the source's now. It matters only as far as a Pod there is older than that. */
function formerPlace({ namespace, name }: Ref): Omit<RotationPlace, "value"> {
  const [code, reason] = [
    "FormerCopy",
    "there is no copy any more, and Pods run that started with one",
  ];
  return { namespace, name, role: "former", verdict: "skip", code, reason, isCurrent: false };
}

/** What a Pod says of a place that no object records. Undefined: the source had no place there. */
export function unrecordedPlace(
  place: Ref,
  input: Omit<PlacesInput, "answers" | "objects">,
): RotationPlace | undefined {
  const { clusterState, source, observed } = input;
  const isName = place.name === source.rule.copyName || place.name === source.name;
  if (!isName || place.namespace === source.namespace) return undefined;
  if (!clusterState.namespaces.has(place.namespace)) return undefined;
  const object = clusterState.objectsIn(place.namespace).get(place.name);
  if (object?.role === "source") return undefined;
  const isReleased = object?.role === "unmanaged" && observed(object)?.isWrittenByUs === true;
  if (object && isReleased) return notKept(object, "copy", WRITTEN);
  return { ...formerPlace(place), value: formerValue(place, input) };
}

/** What Pods may hold at a place that has nothing of the source's now. */
function formerValue(
  { namespace, name }: Ref,
  input: Omit<PlacesInput, "answers" | "objects">,
): ObjectValue {
  const object = input.clusterState.objectsIn(namespace).get(name);
  if (object) return otherValue(object, input);
  const since = input.observed(input.source)?.since;
  return { kind: "former", until: since === undefined ? undefined : since + input.longestWait };
}

function otherValue(
  object: CachedObject,
  { observed }: Pick<PlacesInput, "observed">,
): ObjectValue {
  const { since, isImmutable = false, keys } = observed(object) ?? {};
  return { kind: "other", since, isImmutable, keys };
}

function valueOf(isPresent: boolean, observed: ObservedObject | undefined): ObjectValue {
  return isPresent ? presentValue(observed) : { kind: "older" };
}

function presentValue(observed: ObservedObject | undefined): ObjectValue {
  if (observed?.since === undefined) return { kind: "untimed" };
  const { since, isImmutable, keys } = observed;
  return { kind: "present", since, isImmutable, keys };
}

/** The source first. */
function inOrder(a: RotationPlace, b: RotationPlace): number {
  if (a.role === "source" || b.role === "source") return a.role === "source" ? -1 : 1;
  const [one, other] = [refText(a), refText(b)];
  return one < other ? -1 : Number(one > other);
}
