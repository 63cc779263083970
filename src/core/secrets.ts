// From a Secret of the API to what the cache keeps of it. Which of four roles it has decides what that
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
} from "./annotations.ts";
import { digestData, SecretData, type Digest } from "./data.ts";
import type { Intern } from "./intern.ts";
import { filterKeys } from "./keys.ts";
import type {
  CopySecret,
  OnDelete,
  Problem,
  PullSecret,
  Secret,
  SourceSecret,
  StrangerSecret,
} from "./model.ts";
import { isDataKey } from "./names.ts";
import { faulty } from "./parsed.ts";
import { objectOf, textOf, textsOf } from "./raw.ts";
import { buildReplica, fingerprint, marksOf, onDeleteMark, type Marks } from "./replica.ts";
import {
  annotationKey,
  MARKS,
  PREFIX,
  REFUSED_NAME_PREFIX,
  REFUSED_TYPES,
  type Word,
} from "./vocabulary.ts";

export type ReadContext = {
  readonly digest: Digest;
  readonly intern: Intern;
  isSourceNamespace(namespace: string): boolean;
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
export function readSecret(raw: unknown, context: ReadContext): Secret | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const given: Given = {
    namespace: context.intern(textOf(metadata.namespace)),
    name: textOf(metadata.name),
    uid: textOf(metadata.uid),
    resourceVersion: textOf(metadata.resourceVersion),
    deleting: textOf(metadata.deletionTimestamp) !== "",
  };
  if (given.namespace === "" || given.name === "") return undefined;
  const whole: Whole = {
    given,
    createdAt: textOf(metadata.creationTimestamp),
    type: textOf(object.type) || "Opaque",
    immutable: object.immutable === true,
    labels: textsOf(metadata.labels),
    annotations: textsOf(metadata.annotations),
    data: () => textsOf(object.data),
  };
  if (carries(whole.annotations, ["from"])) return readPull(whole);
  const marks = marksOf(given, whole.labels, whole.annotations);
  if (marks) return readCopy(whole, marks, context);
  if (context.isSourceNamespace(given.namespace) && speaks(whole.annotations)) {
    return readSource(whole, context);
  }
  return readStranger(whole);
}

const SILENT = new Set([...MARKS, "adopt" satisfies Word].map((word) => PREFIX + word));

// Carries anything under our prefix that is not a mark: a source, or one that meant to be.
function speaks(annotations: Annotations): boolean {
  return Object.keys(annotations).some((key) => key.startsWith(PREFIX) && !SILENT.has(key));
}

function readSource(whole: Whole, { digest, intern }: ReadContext): SourceSecret {
  const { createdAt } = whole;
  const given = { ...whole.given, name: intern(whole.given.name) };
  const text = parseSource(whole.annotations, given.name);
  const problems = [...refusals(whole), ...text.problems];
  const source = { role: "source", ...given, createdAt, rule: text.rule } as const;
  if (problems.length > 0) return { ...source, problems, replica: undefined };
  const entries = filterKeys(text.keys, whole.data());
  if (!entries.ok) {
    const problem = { annotation: annotationKey("keys"), ...entries.fault };
    return { ...source, problems: [problem], replica: undefined };
  }
  const { type, immutable, labels, annotations } = whole;
  const content = { ...given, type, immutable, labels, annotations, entries: entries.value };
  // Its copies have the same digests.
  const kept: Digest = (parts) => intern(digest(parts));
  return { ...source, problems: [], replica: buildReplica(content, text, kept) };
}

function refusals({ given, type }: Whole): Problem[] {
  const problems: Problem[] = [];
  if (REFUSED_TYPES.includes(type)) {
    const expected =
      "another type: Secrets of this one are made and filled by their own controller";
    problems.push({ annotation: "type", ...faulty(type, expected).fault });
  }
  if (given.name.startsWith(REFUSED_NAME_PREFIX)) {
    const expected = "another name: Secrets called so are Helm's";
    problems.push({ annotation: "name", ...faulty(given.name, expected).fault });
  }
  return problems;
}

function readPull(whole: Whole): PullSecret {
  const { given, type, immutable, annotations } = whole;
  const text = parsePull(annotations);
  const pulled = annotations[annotationKey("pulled-keys")] ?? "";
  return {
    role: "pull",
    ...given,
    type,
    immutable,
    from: text.from,
    problems: [...refusals(whole), ...forgeries(whole), ...text.problems],
    keys: text.keys,
    onDelete: text.onDelete,
    data: new SecretData(whole.data()),
    pulledKeys: pulled.split(",").filter(isDataKey),
    sourceUid: annotations[annotationKey("source-uid")],
    sourceVersion: annotations[annotationKey("source-version")],
  };
}

// A fill records source-uid. With the other marks there already, the Secret would be a copy as soon as
// its owner takes `from` off, and could be deleted.
function forgeries({ given, labels, annotations }: Whole): Problem[] {
  const sourceUid = { [annotationKey("source-uid")]: "of a fill" };
  if (!marksOf(given, labels, { ...annotations, ...sourceUid })) return [];
  const annotation = annotationKey("placed-at");
  const expected = `it off, or ${annotationKey("from")} off: a pulling Secret is no copy`;
  return [{ annotation, ...faulty(annotations[annotation] ?? "", expected).fault }];
}

function readCopy(whole: Whole, marks: Marks, context: ReadContext): CopySecret {
  const { digest, intern } = context;
  const { given, type, immutable, labels, annotations } = whole;
  const data = whole.data();
  const dataDigest = digestData(digest, data);
  const onDeleteText = annotations[annotationKey("on-delete")] ?? "";
  const copiedKeys = annotations[annotationKey("copied-keys")] ?? "";
  const face =
    marks.sourceVersion === ""
      ? ""
      : fingerprint(digest, {
          ...marks,
          type,
          immutable,
          dataDigest,
          onDelete: onDeleteText,
          copiedKeys,
          labels,
          annotations,
        });
  // What all copies of a source have in common is kept once.
  return {
    role: "copy",
    ...given,
    name: intern(given.name),
    source: { namespace: intern(marks.source.namespace), name: intern(marks.source.name) },
    sourceUid: intern(marks.sourceUid),
    sourceVersion: intern(marks.sourceVersion),
    type: intern(type),
    immutable,
    keys: Object.keys(data),
    dataDigest: intern(dataDigest),
    fingerprint: intern(face),
    onDelete: recordedOnDelete(onDeleteText),
    copiedKeys: intern(copiedKeys),
  };
}

function recordedOnDelete(text: string): OnDelete {
  if (text === onDeleteMark("delete")) return "delete";
  const record = parseOnDelete(text);
  return record.ok ? record.value : "keep";
}

function readStranger(whole: Whole): StrangerSecret {
  const { given, type, immutable, annotations } = whole;
  const adopt = carries(annotations, ["adopt"])
    ? { source: parseAdopt(annotations), type, immutable, keys: Object.keys(whole.data()) }
    : undefined;
  return { role: "stranger", ...given, adopt };
}
