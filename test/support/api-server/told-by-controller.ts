// What the controller would say of an object's annotations, so far as a policy in CEL can say it: by the
// controller's own parsers.
import assert from "node:assert/strict";
import { ignoredText } from "../../../src/controller/annotations/ignored.ts";
import { parseAccept, parsePull, parseSource } from "../../../src/controller/annotations/parse.ts";
import { problemText, type Problem } from "../../../src/controller/annotations/rules.ts";
import {
  isUnknownKey,
  PREFIX,
  SOURCE_ANNOTATIONS,
} from "../../../src/controller/annotations/vocabulary.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";

type Annotations = Readonly<Record<string, string>>;
export type Asked = {
  readonly resource: "secrets" | "configmaps" | "namespaces";
  readonly namespace: string;
  /** Where it is a source, if it asks for anything. */
  readonly publishes: boolean;
  readonly annotations: Annotations;
  /** What an update changes; undefined: it is a create. */
  readonly before?: Annotations;
};

const context = {
  digest: createDigest(Buffer.from("k")),
  intern: (text: string) => text,
  share: <T>(_: string, value: T) => value,
  copyable: { copyableKeys: undefined, namedSources: undefined },
  keep: () => undefined,
};

// What CEL reads otherwise, or does not count: a policy lets it pass.
const UNREAD =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|[\ud800-\udfff]/;
const BOUND = /^(at most \d+ (entries|renames|requirements)|names of at most|globs that take)/;

function isSayable({ annotation, expected }: Problem, annotations: Annotations): boolean {
  const raw = annotations[annotation] ?? "";
  if (isUnknownKey(annotation) || expected.startsWith("one of ")) return true;
  if (raw.length > 1024 || UNREAD.test(raw) || BOUND.test(expected)) return false;
  if (expected.startsWith("no such annotation")) return true;
  if (expected.includes(`${PREFIX}match`) && UNREAD.test(annotations[`${PREFIX}match`] ?? ""))
    return false;
  const entries = raw.split(",");
  if (entries.filter((entry) => /[*?]/.test(entry)).length > 100) return false;
  return !annotation.endsWith("-selector") || entries.length <= 100;
}

function isSet({ annotations, before = {} }: Asked, word: string): boolean {
  const key = PREFIX + word;
  return key in annotations && annotations[key] !== before[key];
}

const PAIRS = [
  ["to", "to-selector"],
  ["allow", "allow-selector"],
] as const;

/** Whether the request makes it so: by the word at fault, or by another that it stands beside. */
function isOfRequest({ annotation, expected }: Problem, asked: Asked): boolean {
  const set = (word: string): boolean => isSet(asked, word);
  const word = annotation.slice(PREFIX.length);
  if (set(word)) return true;
  if (expected.startsWith("no such annotation")) return set("from");
  if (expected.endsWith(`${PREFIX}match off`))
    return set("match") || PAIRS.some((pair) => pair[0] === word && pair.some(set));
  if (!expected.endsWith(" with it, or no match")) return false;
  const { annotations, before = {} } = asked;
  return PAIRS.flat().some((each) => PREFIX + each in before && !(PREFIX + each in annotations));
}

/** The first of several unknown keys alone is reported. */
function oneUnknown(problems: readonly Problem[]): readonly Problem[] {
  const strange = ({ expected }: Problem): boolean => expected.startsWith("one of ");
  const first = problems.find(strange);
  return problems.filter((problem) => !strange(problem) || problem === first);
}

export function toldByController(asked: Asked): readonly string[] {
  const { resource, namespace, publishes } = asked;
  const sorted = Object.entries(asked.annotations).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const annotations = Object.fromEntries(sorted);
  const isTold = (problem: Problem): boolean =>
    isSayable(problem, annotations) && isOfRequest(problem, asked);
  const reported = (problems: readonly Problem[]) => oneUnknown(problems.filter(isTold));
  if (resource === "namespaces") {
    const accept = parseAccept(annotations);
    if (accept.kind !== "problem") return [];
    if (isTold(accept.problem))
      return [`copies in this namespace are frozen: ${problemText(accept.problem)}`];
    const { [accept.problem.annotation]: _, ...rest } = annotations;
    return toldByController({ ...asked, annotations: rest });
  }
  const kind = resource === "configmaps" ? KINDS.ConfigMap : KINDS.Secret;
  const metadata = { namespace, name: "asked", uid: "u", resourceVersion: "1", annotations };
  const read = readObject({ metadata }, { ...context, kind, isSourceNamespace: () => publishes });
  assert.ok(read);
  switch (read.role) {
    case "copy":
      return [];
    case "pull":
      return reported(parsePull(annotations).problems).slice(0, 1).map(problemText);
    case "source": {
      const { problems } = parseSource(annotations, "asked");
      const texts = reported(problems).map(problemText);
      if (texts.length > 0) return [texts.join("; ")];
      const annotation = SOURCE_ANNOTATIONS.find((each) => isSet(asked, each));
      if (!annotation || PAIRS.flat().some((each) => PREFIX + each in annotations)) return [];
      return [ignoredText(kind.kind, { reason: "incomplete", annotation })];
    }
    case "unmanaged": {
      const kept = Object.entries(annotations).filter(
        ([key]) => !key.startsWith(PREFIX) || isSet(asked, key.slice(PREFIX.length)),
      );
      if (kept.length < Object.keys(annotations).length)
        return toldByController({ ...asked, annotations: Object.fromEntries(kept) });
      const { ignored } = read;
      const adopt = annotations[`${PREFIX}adopt`] ?? "";
      if (ignored?.reason === "adopt" && (adopt.length > 1024 || UNREAD.test(adopt))) {
        const { [`${PREFIX}adopt`]: _, ...others } = annotations;
        return toldByController({ ...asked, annotations: others });
      }
      return !ignored || ignored.reason === "marks" ? [] : [ignoredText(kind.kind, ignored)];
    }
  }
}
