// A source, by its own annotations or by an entry of the source list: its rule, or why it is refused, and
// what its copies hold.
import { parseSource } from "../annotations/parse.ts";
import { ignoredOnSource } from "../annotations/ignored.ts";
import { filterKeys, type KeyFilter } from "../../text/key-filter.ts";
import { entryProblem, type ListEntry } from "../annotations/list-entry.ts";
import type { Invalid } from "../../text/result.ts";
import type { Problem } from "../annotations/rules.ts";
import { annotationKey, SOURCE_ANNOTATIONS } from "../annotations/vocabulary.ts";
import { metadataExcess } from "../desired/copied-metadata.ts";
import { desiredCopyOf } from "../desired/copy.ts";
import { copyableKeys } from "../desired/namespace-rules.ts";
import type { RuleTexts, SourceObject } from "../model/cluster.ts";
import { LONGEST_RULE } from "../model/former-rule.ts";
import { digestData, type Digest } from "../model/secret-data.ts";
import type { ReadContext, ReadingObject } from "./read-context.ts";
import { copyNameRefusals, refusals, dataExcess } from "./refusals.ts";

export function readSource(
  reading: ReadingObject,
  context: ReadContext,
  entry: ListEntry | undefined,
): SourceObject {
  const { digest, intern, kind } = context;
  const { createdAt } = reading;
  const given = { ...reading.identity, name: intern(reading.identity.name) };
  const text = entry?.source ?? parseSource(reading.annotations, given.name);
  const say = (problem: Problem): Problem => (entry ? entryProblem(entry.key, problem) : problem);
  const refusing = [...refusals(reading, kind), ...copyNameRefusals(kind, text.rule.copyName)];
  const problems = [...refusing.map(say), ...(entry?.problems ?? text.problems)];
  const { to, allow } = text.rule;
  const hasNoRule = !to && !allow && problems.length === 0;
  const ignored = hasNoRule ? ignoredOnSource(reading.annotations) : undefined;
  const common = { role: "source", kind: kind.kind, ...given } as const;
  const ruleDigest = entry ? "" : digestOfRule(reading, context);
  const source = {
    ...common,
    createdAt,
    changedBy: reading.changedBy(),
    entry,
    rule: text.rule,
    ruleDigest,
    ruleTexts: entry ? undefined : ruleTextsOf(reading),
    ignored,
    ...(context.withValueTimes && { valueTime: reading.valueTime() }),
  };
  if (problems.length > 0) {
    const known = entry ? entry.problems.length === 0 : problems.every(isNotOfKeys);
    const refusedDigest = known ? digestOf(reading, text.keys, context) : undefined;
    return { ...source, problems, desiredCopy: undefined, refusedDigest };
  }
  const refused = (annotation: string, fault: Invalid): SourceObject => {
    const problem = say({ annotation, ...fault });
    return { ...source, problems: [problem], desiredCopy: undefined, refusedDigest: undefined };
  };
  const data = reading.data();
  const excess = dataExcess(kind, data);
  if (excess) return refused("data", excess);
  const entries = filterKeys(text.keys, data);
  if (!entries.ok) return refused(annotationKey("keys"), entries.fault);
  const excessive = dataExcess(kind, entries.value);
  if (excessive) return refused(annotationKey("keys"), excessive);
  const { type, immutable, labels, annotations } = reading;
  const { copyLabels, copyAnnotations } = text;
  const copyable = copyableKeys(context.copyable, given.namespace, entry !== undefined);
  const wide = metadataExcess(labels, annotations, copyLabels, copyAnnotations, copyable);
  if (wide) return refused(annotationKey(wide.name), wide.fault);
  const own = { ...given, type, immutable, labels, annotations };
  const content = { ...own, entries: entries.value, entry };
  // Its copies have the same digests.
  const kept: Digest = (parts) => intern(digest(parts));
  const { desiredCopy, payload } = desiredCopyOf(kind, content, text, copyable, kept);
  const read = { ...source, problems: [], desiredCopy, refusedDigest: undefined };
  context.keep(read, payload);
  return read;
}

function isNotOfKeys({ annotation }: Problem): boolean {
  return annotation !== annotationKey("keys");
}

const ABSENT = "\u0000";

function digestOfRule({ annotations }: ReadingObject, { digest, intern }: ReadContext): string {
  const texts = SOURCE_ANNOTATIONS.map((name) => annotations[annotationKey(name)] ?? ABSENT);
  return intern(digest(texts));
}

function ruleTextsOf({ annotations }: ReadingObject): RuleTexts | undefined {
  const texts = SOURCE_ANNOTATIONS.flatMap((name) => {
    const text = annotations[annotationKey(name)];
    return text === undefined ? [] : [[name, text] as const];
  });
  const length = texts.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  return length > LONGEST_RULE ? undefined : Object.fromEntries(texts);
}

/** The digest of what a source gives its copies, or undefined where it can give nothing. */
function digestOf(
  reading: ReadingObject,
  keys: KeyFilter,
  { digest, intern, kind }: ReadContext,
): string | undefined {
  const data = reading.data();
  if (dataExcess(kind, data)) return undefined;
  const entries = filterKeys(keys, data);
  return entries.ok ? intern(digestData(digest, entries.value)) : undefined;
}
