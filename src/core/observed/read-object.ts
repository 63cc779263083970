// From a Secret or a ConfigMap of the API to what the cache keeps of it. Which of four roles it has decides what that
// is: a source and a pulling Secret keep data, a copy a digest and its marks, a stranger little more
// than its name. A Secret with `from` is its owner's and never a copy, and a copy is never a source,
// whatever else they carry.
import {
  carries,
  parseAdopt,
  parseOnDelete,
  parsePull,
  parseSource,
  type Annotations,
  type SourceText,
} from "../annotations/parse.ts";
import { excessOf } from "../annotations/bounds.ts";
import { entriesOf, entryBytes, type KindRules } from "../model/kinds.ts";
import { digestData, SecretData, type Digest } from "../model/secret-data.ts";
import {
  ignoredOnCopy,
  ignoredOnPull,
  ignoredOnSource,
  ignoredOnStranger,
} from "../annotations/ignored.ts";
import type { Intern, Share } from "./intern.ts";
import { filterKeys, type KeyFilter } from "../annotations/key-filter.ts";
import { copyableKeys, type CopyableSettings } from "../desired/namespace-rules.ts";
import { metadataExcess } from "../desired/copied-metadata.ts";
import {
  CopyObject,
  type CopyTemplate,
  type PullingObject,
  type CachedObject,
  type SourcePayload,
  type SourceObject,
  type UnmanagedObject,
} from "../model/cluster.ts";
import { invalid, type Invalid } from "../annotations/result.ts";
import { noteFinalizers } from "../model/finalizers.ts";
import { filledEntries, recordedSource } from "../desired/pull-fill.ts";
import { objectOf, stringOf, stringsOf, type RawObject } from "../model/unstructured.ts";
import {
  desiredCopy,
  fingerprint,
  marksOf,
  onDeleteMark,
  recordedEntry,
  type Marks,
} from "../desired/copy.ts";
import { entryProblem, type ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../annotations/names.ts";
import {
  annotationKey,
  MARKS,
  PREFIX,
  isUnknownKey,
  type AnnotationName,
} from "../annotations/vocabulary.ts";
import type { Problem, OnDelete } from "../annotations/rules.ts";

export type ReadContext = {
  /** Of the objects that are read. */
  readonly kind: KindRules;
  readonly digest: Digest;
  readonly intern: Intern;
  readonly share: Share<CopyTemplate>;
  isSourceNamespace(namespace: string): boolean;
  readonly copyable: CopyableSettings;
  /** What the source list says of an object. */
  readonly entryOf?: (object: Ref) => ListEntry | undefined;
  /** Where the data of sources go, which the cache of Secrets does not keep. */
  keep(source: SourceObject, payload: SourcePayload): void;
};

type Texts = Readonly<Record<string, string>>;

/** What every role has, and what is read only where a role needs it. */
type Given = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
};
type Whole = {
  readonly given: Given;
  readonly createdAt: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly labels: Texts;
  readonly annotations: Annotations;
  data(): Texts;
};

/** A Secret of the API, reduced for the cache; undefined where it is not a Secret with a name. */
export function readObject(raw: unknown, context: ReadContext): CachedObject | undefined {
  const secret = reduced(raw, context);
  if (secret?.deleting === true) noteFinalizers(secret, raw);
  return secret;
}

function reduced(raw: unknown, context: ReadContext): CachedObject | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const given: Given = {
    namespace: context.intern(stringOf(metadata.namespace)),
    name: stringOf(metadata.name),
    uid: stringOf(metadata.uid),
    resourceVersion: stringOf(metadata.resourceVersion),
    deleting: stringOf(metadata.deletionTimestamp) !== "",
  };
  if (given.namespace === "" || given.name === "") return undefined;
  const whole: Whole = {
    given,
    createdAt: stringOf(metadata.creationTimestamp),
    type: typeOf(object, context),
    immutable: object.immutable === true,
    labels: stringsOf(metadata.labels),
    annotations: stringsOf(metadata.annotations),
    data: () => entriesOf(context.kind, object),
  };
  if (context.kind.reserved?.includes(given.name)) return bystander(given);
  if (carries(whole.annotations, ["from"])) return readPull(whole, context);
  const marks = marksOf(given, whole.labels, whole.annotations);
  if (marks) return readCopy(whole, marks, context);
  const entry = context.entryOf?.(given);
  if (entry || (context.isSourceNamespace(given.namespace) && speaks(whole.annotations))) {
    return readSource(whole, context, entry);
  }
  return readStranger(whole, context);
}

/** Whatever it carries, nothing is made of it. */
function bystander(given: Given): UnmanagedObject {
  return { role: "stranger", ...given, adopt: undefined, ignored: undefined };
}

/** "": objects of this kind have none. */
function typeOf({ type }: RawObject, { kind: { types } }: ReadContext): string {
  return types ? stringOf(type) || types.byDefault : "";
}

// The API takes a type of any length; none that means anything is longer than a name.
const LONGEST_TYPE = 253;

/** Of a type that is too long only that it is. */
function boundedType(type: string): string {
  return type.length > LONGEST_TYPE ? `${type.length} characters` : type;
}

const SILENT = new Set([...MARKS, "adopt" satisfies AnnotationName].map((word) => PREFIX + word));

// Carries anything under our prefix that is not a mark: a source, or one that meant to be.
function speaks(annotations: Annotations): boolean {
  return Object.keys(annotations).some((key) => key.startsWith(PREFIX) && !SILENT.has(key));
}

/**
 * What the copies of a source hold, read once more, by the entry by which it was one; undefined where it
 * is no source, or refused.
 */
export function readPayload(
  raw: unknown,
  { entry }: Pick<SourceObject, "entry">,
  context: ReadContext,
): SourcePayload | undefined {
  let read: SourcePayload | undefined;
  const keep: ReadContext["keep"] = (_, payload) => (read = payload);
  readObject(raw, { ...context, entryOf: () => entry, keep });
  return read;
}

function readSource(
  whole: Whole,
  context: ReadContext,
  entry: ListEntry | undefined,
): SourceObject {
  const { digest, intern, kind } = context;
  const { createdAt } = whole;
  const given = { ...whole.given, name: intern(whole.given.name) };
  const text = entry?.source ?? parseSource(whole.annotations, given.name);
  const say = (problem: Problem): Problem => (entry ? entryProblem(entry.key, problem) : problem);
  const refusing = [...refusals(whole, kind), ...copyRefusals(text, kind)];
  const problems = [...refusing.map(say), ...(entry?.problems ?? text.problems)];
  const { to, allow } = text.rule;
  const silent = !to && !allow && problems.length === 0;
  const ignored = silent ? ignoredOnSource(whole.annotations) : undefined;
  const identity = { role: "source", kind: kind.kind, ...given } as const;
  const source = { ...identity, createdAt, entry, rule: text.rule, ignored };
  if (problems.length > 0) {
    const known = entry ? entry.problems.length === 0 : problems.every(isNotOfKeys);
    const refusedDigest = known ? digestOf(whole, text.keys, context) : undefined;
    return { ...source, problems, replica: undefined, refusedDigest };
  }
  const refused = (annotation: string, fault: Invalid): SourceObject => {
    const problem = say({ annotation, ...fault });
    return { ...source, problems: [problem], replica: undefined, refusedDigest: undefined };
  };
  const data = whole.data();
  const excess = tooMuch(kind, data);
  if (excess) return refused("data", excess);
  const entries = filterKeys(text.keys, data);
  if (!entries.ok) return refused(annotationKey("keys"), entries.fault);
  const excessive = tooMuch(kind, entries.value);
  if (excessive) return refused(annotationKey("keys"), excessive);
  const { type, immutable, labels, annotations } = whole;
  const { copyLabels, copyAnnotations } = text;
  const copyable = copyableKeys(context.copyable, given.namespace, entry !== undefined);
  const wide = metadataExcess(labels, annotations, copyLabels, copyAnnotations, copyable);
  if (wide) return refused(annotationKey(wide.word), wide.fault);
  const own = { ...given, type, immutable, labels, annotations };
  const content = { ...own, entries: entries.value, entry: entry?.key ?? "" };
  // Its copies have the same digests.
  const kept: Digest = (parts) => intern(digest(parts));
  const { replica, payload } = desiredCopy(kind, content, text, copyable, kept);
  const read = { ...source, problems: [], replica, refusedDigest: undefined };
  context.keep(read, payload);
  return read;
}

function tooMuch(kind: KindRules, entries: Texts): Invalid | undefined {
  return excessOf(entries, (entry) => entryBytes(kind, entry));
}

function isNotOfKeys({ annotation }: Problem): boolean {
  return annotation !== annotationKey("keys");
}

/** Of what a source gives its copies; undefined where it can give nothing. */
function digestOf(
  whole: Whole,
  keys: KeyFilter,
  { digest, intern, kind }: ReadContext,
): string | undefined {
  const data = whole.data();
  if (tooMuch(kind, data)) return undefined;
  const entries = filterKeys(keys, data);
  return entries.ok ? intern(digestData(digest, entries.value)) : undefined;
}

function refusals({ given, type }: Whole, { kind, types, refusedPrefix }: KindRules): Problem[] {
  const problems: Problem[] = [];
  if (types?.refused.includes(type)) {
    const expected = `another type: ${kind}s of this one are made and filled by their own controller`;
    problems.push({ annotation: "type", ...invalid(type, expected).fault });
  }
  if (type.length > LONGEST_TYPE) {
    const expected = `a type of at most ${LONGEST_TYPE} characters`;
    problems.push({ annotation: "type", ...invalid(type, expected).fault });
  }
  if (given.name.startsWith(refusedPrefix)) {
    const expected = `another name: ${kind}s called so are Helm's`;
    problems.push({ annotation: "name", ...invalid(given.name, expected).fault });
  }
  return problems;
}

function copyRefusals({ rule: { copyName } }: SourceText, kind: KindRules): Problem[] {
  return [
    ...everywhere(kind, annotationKey("name"), copyName),
    ...reservations(kind, annotationKey("name"), copyName),
  ];
}

function reservations({ kind, reserved }: KindRules, annotation: string, name: string): Problem[] {
  if (!reserved?.includes(name)) return [];
  const expected = `another name: a ${kind} called so tells secretcast what to do, and is nobody's copy`;
  return [{ annotation, ...invalid(name, expected).fault }];
}

// Its own controller would have the last word, in every namespace.
function everywhere(
  { kind, everywhere: names }: KindRules,
  annotation: string,
  name: string,
): Problem[] {
  if (!names.includes(name)) return [];
  const expected = `another name: Kubernetes puts a ${kind} of this one into every namespace`;
  return [{ annotation, ...invalid(name, expected).fault }];
}

// Nobody reads more of them, and each is kept as long as the Secret is.
const MOST_PULL_PROBLEMS = 3;
/** A longer `keys` is read again when the Secret is to be filled. */
const LONGEST_KEPT_KEYS = 4096;

function readPull(whole: Whole, { digest, intern, kind }: ReadContext): PullingObject {
  const { given, type, immutable, annotations } = whole;
  const text = parsePull(annotations);
  const data = whole.data();
  const filled = filledEntries(annotations, data);
  const problems = [
    ...refusals(whole, kind),
    ...everywhere(kind, "name", given.name),
    ...excesses(kind, data),
    ...forgeries(whole, kind),
    ...text.problems,
  ];
  return {
    role: "pull",
    kind: kind.kind,
    ...given,
    type: intern(boundedType(type)),
    immutable,
    from: text.from && { namespace: intern(text.from.namespace), name: intern(text.from.name) },
    problems: problems.slice(0, MOST_PULL_PROBLEMS),
    keys: (text.keys.text?.length ?? 0) > LONGEST_KEPT_KEYS ? undefined : text.keys,
    onDelete: text.onDelete,
    bytes: new SecretData(kind, data).bytes(),
    filled: Object.keys(filled).length,
    filledDigest: intern(digestData(digest, filled)),
    ...recordedSource(annotations),
    ignored: ignoredOnPull(annotations),
  };
}

function excesses(kind: KindRules, data: Texts): Problem[] {
  const excess = tooMuch(kind, data);
  return excess ? [{ annotation: "data", ...excess }] : [];
}

// A fill records source-uid. With the other marks there already, the Secret would be a copy as soon as
// its owner takes `from` off, and could be deleted.
function forgeries({ given, labels, annotations }: Whole, { kind }: KindRules): Problem[] {
  const sourceUid = { [annotationKey("source-uid")]: "of a fill" };
  if (!marksOf(given, labels, { ...annotations, ...sourceUid })) return [];
  const annotation = annotationKey("placed-at");
  const expected = `it off, or ${annotationKey("from")} off: a pulling ${kind} is no copy`;
  return [{ annotation, ...invalid(annotations[annotation] ?? "", expected).fault }];
}

/** A longer record of what was copied is read again when it is needed. */
const LONGEST_KEPT_RECORD = 253;

function readCopy(whole: Whole, marks: Marks, context: ReadContext): CopyObject {
  const { digest, intern } = context;
  const { given, type, immutable, labels, annotations } = whole;
  const dataDigest = digestData(digest, whole.data());
  const onDelete = annotations[annotationKey("on-delete")] ?? "";
  const copiedKeys = annotations[annotationKey("copied-keys")] ?? "";
  const parts = {
    ...marks,
    type,
    immutable,
    dataDigest,
    onDelete,
    entry: annotations[annotationKey("entry")] ?? "",
    copiedKeys,
    labels,
    annotations,
  };
  const face = fingerprint(digest, parts);
  const unknownMark = unknownMarkOf(annotations);
  const entry = recordedEntry(annotations);
  const ignored = ignoredOnCopy(annotations);
  const { namespace, name } = marks.source;
  const rest = `${unknownMark ?? ""} ${ignored?.word ?? ""}`;
  const shared = context.share(`${face} ${marks.sourceVersion} ${rest}`, {
    source: { namespace: intern(namespace), name: intern(name) },
    sourceUid: intern(marks.sourceUid),
    sourceVersion: intern(marks.sourceVersion),
    type: intern(boundedType(type)),
    immutable,
    dataDigest: intern(dataDigest),
    // A copy without a version that could be is to be written again, one with an unknown mark never.
    fingerprint: marks.sourceVersion === "" || unknownMark !== undefined ? "" : intern(face),
    onDelete: recordedOnDelete(onDelete),
    copiedKeys: copiedKeys.length > LONGEST_KEPT_RECORD ? undefined : intern(copiedKeys),
    entry: entry === undefined ? undefined : intern(entry),
    unknownMark: unknownMark === undefined ? undefined : intern(unknownMark),
    ignored,
  });
  return new CopyObject({ ...given, name: intern(given.name) }, shared);
}

/** A copy's record of what was copied onto it. */
export function readRecord(raw: unknown): string {
  const annotations = stringsOf(objectOf(objectOf(raw).metadata).annotations);
  return annotations[annotationKey("copied-keys")] ?? "";
}

// As long as the name of a label or annotation may be; anybody may write one.
const LONGEST_MARK = PREFIX.length + 63;

// What a newer version may have written.
function unknownMarkOf(annotations: Annotations): string | undefined {
  return Object.keys(annotations).find(isUnknownKey)?.slice(0, LONGEST_MARK);
}

function recordedOnDelete(text: string): OnDelete {
  if (text === onDeleteMark("delete")) return "delete";
  const record = parseOnDelete(text);
  return record.ok ? record.value : "keep";
}

function readStranger(
  { given, type, immutable, labels, annotations }: Whole,
  { intern }: ReadContext,
): UnmanagedObject {
  const adopting = carries(annotations, ["adopt"]);
  const source = adopting ? parseAdopt(annotations) : undefined;
  const ignored = ignoredOnStranger(annotations, source !== undefined);
  if (!adopting) return { role: "stranger", ...given, adopt: undefined, ignored };
  const adopt = {
    source: source && { namespace: intern(source.namespace), name: intern(source.name) },
    type: intern(boundedType(type)),
    immutable,
    labelled: Object.keys(labels).length > 0,
  };
  return { role: "stranger", ...given, adopt, ignored };
}
