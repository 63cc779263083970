// Every reason that the planner gives for a verdict or a write, as a code with parameters, and the one catalogue of
// their sentences. Log, Events, the status page and the commands print `reasonText`. JSON has the code too, which
// stays when a sentence changes.
import { printable } from "../../text/printable.ts";

export const REASONS = {
  // Places that need nothing now.
  Current: "the copy is what it should be",
  NothingWanted: "nothing is to be there",
  Queued: "queued for the next writes",

  // Writes.
  NoCopyYet: "there is no copy yet",
  CopyDeleted: "the copy was deleted by somebody else",
  CopyEdited: "the copy was changed by somebody else",
  SourceChanged: "the source changed",
  SourceReplaced: "the place is taken over from source {other}",
  AdoptionAllowed: "its owner lets this source adopt it",
  TypeDiffers: "the type {type} cannot be changed to {wanted}",
  CopyImmutable: "the copy is immutable",
  CopyOnlyKept:
    "the namespace keeps this copy and accepts no new one, so it cannot be replaced: kubectl annotate namespace NAMESPACE secretcast.io/accept={source}",
  EntriesDiffer: "its entries are not the source's, as far as is known",
  ConfirmRemovals: "copies of it, or there, are about to end",

  // Places with more than one source.
  OtherSourceFirst: "source {source} wants the same place and comes first",
  PlaceReserved:
    "the place is reserved for source {source}, whose copy there was deleted for its successor",
  PlaceTaken: "the copy of {source} has this place",
  TakeoverPending: "source {source} comes before {other}",
  TakeoverFailed: "it cannot take this place over: {error}",
  SuccessorPaused: "source {source}, which has this place now, is paused",

  // An object is in the way.
  ObjectInTheWay: "a {kind} of that name already exists. Delete it, or offer it: {command}",
  MovedCopyInTheWay:
    "a {kind} of that name already exists. Delete it, or offer it: {command}. It carries the marks of a copy that was made for {copiedFor} and was moved or restored here",
  SourceInTheWay: "a {kind} that is a source itself is in the way",
  PullingObjectInTheWay: "a {kind} that pulls its entries is in the way",
  UncachedObjectInTheWay: "a {kind} that the cache does not show is in the way",
  UnreadObjectInTheWay:
    "a {kind} that the cache does not show is in the way and cannot be read: {error}",
  AdoptInvalid:
    "the {kind} in the way has a secretcast.io/adopt that is not NAMESPACE/NAME of a source",
  AdoptOther: "the {kind} in the way lets {source} adopt it, not this source",
  AdoptDeleting: "the {kind} in the way is being deleted",
  AdoptUnknownKey:
    "the {kind} in the way carries {key}, which this version does not know; its owner may correct it or take it off",
  AdoptTypeDiffers:
    "the {kind} in the way is of type {type}, the copy would be {wanted}; a type cannot be changed",
  AdoptImmutable: "the {kind} in the way is immutable; its owner may delete it",

  // The source.
  SourcePaused: "source {source} is paused",
  SourceRefused: "source {source} is refused: {problem}",
  SourceDeleting: "source {source} is being deleted{waits}",
  SourceNamespaceDeleting: "namespace {namespace} of source {source} is being deleted",
  SourceGone: "source {source} is gone",
  SourceNameTaken: "source {source} is gone: another object has its name now",
  SourceUnannotated: "{source} carries neither to nor to-selector any more",
  SourceOutOfScope: "source {source} is not in a source namespace (--{flag})",
  SourceNotRead: "source {source} is not read (--namespaces)",
  SourceUnreadable:
    "namespace {namespace} of source {source} cannot be read: the API server answers 403",
  SourceNameNotRead: "source {source} is not read (--only-names): {advice}",
  NameNotRead: "objects named {name} are not read (--only-names): {advice}",
  NameUnreadable: "objects named {name} cannot be read: the API server answers 403",
  SourceChanging: "source {source} changed during planning; retrying immediately",
  SourceReread: "source {source} is read again, because the source list says something new of it",
  NoLongerWanted: "source {source} no longer wants this place",
  NoTargets:
    "no namespace takes a copy: none matches it (to, to-selector), or none that does accepts it",
  FanoutLimit: "{places} places need {bytes} bytes, more than {limit} (--fanout-limit)",
  // To the owner of a pulling object. They may read neither the source, nor the source list, nor the flags, so
  // everything that is wrong there has this one reason.
  NoSource: "there is no source {source}, or it does not allow this namespace",

  // The source list.
  ListOff: "the source list is turned off (--source-list)",
  ListPending: "the source list {list} has not been read yet",
  ListForbidden:
    "the source list {list} cannot be read: the API server answers 403 (get, list, watch)",
  ListAbsent: "the source list {list} is not there",
  ListInvalid: "the source list {list} is not read: {problem}",
  ListMissing:
    "an entry of the source list made it, and no source list is configured (--source-list)",
  ListEmpty: "the source list {list} has no entry at all, which counts as if it were deleted",
  ListChanged: "the source list says something new of its source",
  EntryOfOtherList:
    "entry {key} of the source list {other} made it, and this controller reads {list}: another installation keeps it",
  EntryOfUnknownList:
    "entry {key} of a source list made it, and {list} has no such entry: another installation may keep it",
  EntryRemoved: "the source list {list} has no entry {key} for {source}",
  EntryRefused: "{problem}",

  // The namespace, and the object at the place.
  NamespaceExcluded: "the namespace {why} ({flag})",
  NamespaceInvalid: "the namespace is not understood: {problem}",
  NotAccepted: "the namespace does not accept copies of {source}",
  UnknownMark: "it carries {mark}, which this version does not know: a newer one made it",
  Deleting: "it is being deleted, and waits for the API server to remove it",
  DeletingWithFinalizers: "its deletion waits for {finalizers}",
  PullRefused: "{problem}",
  KeysInvalid: "{problem}",
  PullImmutable: "it is immutable and cannot be filled",
  PullTooLarge: "filled it would hold {part}: expected {expected}",
  PullTypeDiffers: "its type is {type}: expected {expected}",
  PullKeysMissing: "the filters leave out a key that its type {type} requires",
  OwnContent: "it has content of its own: {keys}; empty it to have it filled",

  // Failed writes.
  WriteFailed: "{error}",
  CacheStale: "conflict: the cache was stale; retrying",
  ChangedByWebhook: "an admission webhook or policy changes the copy",
  ChangedRepeatedly: "repaired again and again: another client keeps changing it",

  // What follows another reason.
  RemovedLater: "will be removed after {seconds}s ({flag})",
  Held: "held, because {because}",
  HeldByEdit:
    "held, because the source lost {lost} namespaces within {window} and still wants {left}; up to two at a time, and fewer than are left, need no hold",
  BeingConfirmed: "the API server is asked whether it is so",
  NotConfirmed: ", but {error}",
  MadeAgain: "the copy is made again afterwards",

  // A running controller of a version that reports no code, or another one.
  Reported: "",
} as const;

export type ReasonCode = keyof typeof REASONS;
type ParamOf<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamOf<Rest>
  : never;
type ParamsOf<Code extends ReasonCode> = Readonly<
  Record<ParamOf<(typeof REASONS)[Code]>, string | number>
>;

export type Reason = {
  readonly code: ReasonCode;
  readonly params: Readonly<Record<string, string | number>>;
  /** A second reason that follows in the same sentence. */
  readonly next?: Reason;
  /** The sentence, if another process rendered it. */
  readonly rendered?: string;
};

const NO_PARAMS = {};

export function because<Code extends ReasonCode>(
  code: Code,
  ...[params]: ParamOf<(typeof REASONS)[Code]> extends never ? [] : [ParamsOf<Code>]
): Reason {
  return { code, params: params ?? NO_PARAMS };
}

/** `reason`, and then `next`. */
export function followedBy(reason: Reason, next: Reason): Reason {
  return { ...reason, next: reason.next ? followedBy(reason.next, next) : next };
}

/** Whether `code` is one of the reasons that it consists of. */
export function says(reason: Reason, code: ReasonCode): boolean {
  return reason.code === code || (reason.next !== undefined && says(reason.next, code));
}

/** A reason that a running controller reported as text. `code` is not known to be one of this version. */
export function reportedReason(code: string | undefined, text: string): Reason {
  return { code: isCode(code) ? code : "Reported", params: NO_PARAMS, rendered: shown(text) };
}

function isCode(code: string | undefined): code is ReasonCode {
  return code !== undefined && Object.hasOwn(REASONS, code);
}

/** Sentences cut at their parameters: texts, with the name of a parameter at each odd position. */
const pieces = new Map<ReasonCode, readonly string[]>();

function piecesOf(code: ReasonCode): readonly string[] {
  const known = pieces.get(code);
  if (known) return known;
  const cut = REASONS[code].split(/\{(\w+)\}/);
  pieces.set(code, cut);
  return cut;
}

/** One line without a value of a Secret. It is called for every row of a plan: 30 to 60 ns, where a regular expression took 350. */
export function reasonText({ code, params, next, rendered }: Reason): string {
  if (rendered !== undefined) return rendered;
  let sentence = "";
  let isName = false;
  for (const piece of piecesOf(code)) {
    sentence += isName ? shown(params[piece]) : piece;
    isName = !isName;
  }
  if (!next) return sentence;
  const more = reasonText(next);
  return more.startsWith(",") ? `${sentence}${more}` : `${sentence}; ${more}`;
}

// Marks, types and names of field managers are any text of a user.
function shown(param: string | number | undefined): string {
  const text = String(param);
  // Nearly all are names, so they are checked without a regular expression.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return printable(text);
  }
  return text;
}
