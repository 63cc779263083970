// One receipt as one line of JSON: what became of one copy, or of the entries that a pulling object got.
// Promises: a line contains names, UIDs, versions and codes, never a value. It is ASCII without a line break,
// so nothing that a user writes can end it or look like another line. Its length is limited.
import { reasonText, type Reason } from "../controller/model/reasons.ts";
import { recordOn, type CachedObject } from "../controller/model/cluster.ts";
import type { ObjectKind } from "../controller/model/kinds.ts";
import { refText, type Ref } from "../text/names.ts";
import { triggerText, type Trigger } from "./triggers.ts";

/** What a line reports. `begin` and `end` frame a statement of everything that exists. */
export const RECEIPTS = {
  begin: "everything before this line is superseded, and a line for each existing copy follows",
  end: "every existing copy has had its line, and `count` is their number",
  found: "a copy exists, and no answer to this process said so",
  gone: "a copy no longer exists, or is no copy any more, and no answer to this process said so",
  create: "a copy was created",
  update: "a copy was updated in place",
  adopt: "an existing object became a copy, because its owner offered it",
  replace: "a copy was deleted and created again, because the API allows no update",
  takeover: "another source got the copy",
  release: "the marks of a copy were removed, and the object stays",
  delete: "a copy was deleted, and with `deleting` a finalizer still holds it",
  fill: "a pulling object received entries",
  clear: "a pulling object lost the received entries",
} as const;
export type ReceiptWord = keyof typeof RECEIPTS;

/** Codes of lines that do not follow from an answer. All others have the code of the reason for the write. */
export const FINDINGS = {
  Started: "this process began to lead",
  LinesLost: "lines were lost before",
  Present: "the copy existed at `begin`",
  AnswerLost: "the answer to this write of ours did not come, and the watch shows its effect",
  Appeared: "a copy appeared that this process did not write",
  ChangedByOthers: "another client changed what a receipt names",
  DeletedByOthers: "another client deleted the copy",
  MarksRemoved: "another client changed the marks, so that the object is no copy any more",
  NamespaceDeleted: "the namespace is deleted or being deleted",
  FinalizersDone: "the finalizers released the deleted copy",
} as const;
export type FindingCode = keyof typeof FINDINGS;

/** A copy, or a pulling object with entries of its source: what a line says of it. */
export type Holding = {
  readonly uid: string;
  readonly version: string;
  readonly deleting: boolean;
  readonly pulling: boolean;
  readonly source: Ref;
  readonly sourceUid: string;
  readonly sourceVersion: string | undefined;
  readonly entry: string | undefined;
  readonly keyNames: string | undefined;
};

/** Undefined for an object that holds nothing from secretcast. */
export function holdingOf(object: CachedObject | undefined): Holding | undefined {
  if (object?.role !== "copy" && object?.role !== "pull") return undefined;
  const { uid, resourceVersion: version, deleting } = object;
  const { sourceUid, sourceVersion, entry, keyNames } = recordOn(object);
  const pulling = object.role === "pull";
  const source = object.role === "pull" ? object.from : object.template.source;
  if (source === undefined || sourceUid === undefined) return undefined;
  if (object.role === "pull" && !object.isFilled) return undefined;
  return { uid, version, deleting, pulling, source, sourceUid, sourceVersion, entry, keyNames };
}

/** Whether its role lets an object hold something. */
export function mayHold(object: CachedObject | undefined): boolean {
  return object?.role === "copy" || object?.role === "pull";
}

/** Whether both say the same in a receipt. The version of the object may differ: its labels may have changed. */
export function isSameHolding(one: Holding | undefined, other: Holding | undefined): boolean {
  if (!one || !other) return one === other;
  const { version: _, source, ...said } = one;
  return (
    refText(source) === refText(other.source) &&
    Object.entries(said).every(([field, value]) => other[field as keyof typeof said] === value)
  );
}

/** The identity of an object at one time. */
export type Version = { readonly uid: string; readonly version: string };

export function objectVersion(object: CachedObject | undefined): Version | undefined {
  return object && { uid: object.uid, version: object.resourceVersion };
}

export type Receipt = {
  readonly word: Exclude<ReceiptWord, "begin" | "end">;
  readonly kind: ObjectKind;
  readonly place: Ref;
  /** What is at the place now, if it holds something from a source. */
  readonly holding: Holding | undefined;
  /** What was there. The source of a line without `holding` is its source. */
  readonly before: Holding | undefined;
  /** The objects, whether they hold something or not. */
  readonly versions: { readonly before: Version | undefined; readonly after: Version | undefined };
  readonly why:
    | { readonly kind: "write"; readonly reason: Reason; readonly trigger: Trigger }
    | { readonly kind: "finding"; readonly code: FindingCode; readonly manager: string | undefined }
    /** Our write, of which only the effect was seen. */
    | { readonly kind: "lost answer"; readonly reason: Reason; readonly trigger: Trigger };
};

/** Which process wrote a line, and its number there. A missing number is a lost line. */
export type LineNumber = { readonly time: string; readonly run: string; readonly seq: number };

type Json = Readonly<Record<string, unknown>>;

const LONGEST_CAUSE = 512;

export function receiptLine(at: LineNumber, receipt: Receipt): string {
  const { word, kind, place, holding, before, versions, why } = receipt;
  const subject = holding ?? before;
  return line({
    ...head(at, word),
    kind,
    place: refText(place),
    ...(subject?.pulling && { pulling: true }),
    holds: holding !== undefined,
    ...(holding?.deleting && { deleting: true }),
    ...(why.kind !== "write" && { found: true }),
    ...(subject && {
      source: refText(subject.source),
      sourceUid: subject.sourceUid,
      sourceVersion: subject.sourceVersion,
      entry: subject.entry,
    }),
    before: versions.before && { ...versions.before, ...otherSource(before, subject) },
    after: versions.after,
    ...keysOf(subject?.keyNames),
    ...whyOf(why),
  });
}

/** `term`: how often the Lease has changed its holder, or undefined without a Lease. */
export function beginLine(
  at: LineNumber,
  code: "Started" | "LinesLost",
  term: number | undefined,
): string {
  return line({ ...head(at, "begin"), term, code, cause: FINDINGS[code] });
}

export function endLine(at: LineNumber, count: number): string {
  return line({ ...head(at, "end"), count });
}

function head({ time, run, seq }: LineNumber, receipt: ReceiptWord): Json {
  return { time, receipt, run, seq };
}

// A takeover names the source that had the copy before.
function otherSource(before: Holding | undefined, subject: Holding | undefined): Json {
  if (!before || !subject || refText(before.source) === refText(subject.source)) return {};
  return { source: refText(before.source), sourceUid: before.sourceUid };
}

// The last word of a cut list is "+" and the number of the rest (boundedNames).
function keysOf(keyNames: string | undefined): Json {
  if (keyNames === undefined) return {};
  const keys = keyNames === "" ? [] : keyNames.split(",");
  const last = keys.at(-1);
  if (last?.startsWith("+") !== true) return { keys };
  return { keys: keys.slice(0, -1), moreKeys: Number(last) };
}

function whyOf(why: Receipt["why"]): Json {
  if (why.kind === "finding") {
    const { code, manager } = why;
    return { code, cause: FINDINGS[code], ...(manager !== undefined && { by: { manager } }) };
  }
  const { reason, trigger } = why;
  const [text, triggered] = [reasonText(reason), triggerText(trigger)];
  const cause = triggered.startsWith(text) ? triggered : `${text}; ${triggered}`;
  const { code: what, ...rest } = trigger;
  const code = why.kind === "write" ? reason.code : ("AnswerLost" satisfies FindingCode);
  return { code, cause: cause.slice(0, LONGEST_CAUSE), by: { trigger: what, ...rest } };
}

// JSON escapes control characters only. Some readers also end a line at U+0085 or U+2028.
function line(fields: Json): string {
  const text = JSON.stringify(fields).replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${text}\n`;
}
