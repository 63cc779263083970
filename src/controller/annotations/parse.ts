// From annotations to a Rule, or to the Problems that refuse them. Total: any text gives an answer, in
// time proportional to its length. An empty value, a value that cannot be understood and an unknown
// key under secretcast.io/ are Problems, so that a mistyped `to-selecter` beside `to: "*"` does not
// broadcast.
import { ALL_KEYS, parseKeys, type KeyFilter } from "../../text/key-filter.ts";
import {
  hasPositive,
  METADATA_GLOBS,
  NAMESPACE_GLOBS,
  parseGlobList,
  SOURCE_GLOBS,
  type GlobAlphabet,
  type GlobList,
} from "../../text/globs.ts";
import { isSecretName, parseRef, REF_FORM, SECRET_NAME_FORM, type Ref } from "../../text/names.ts";
import { detached, invalid, ok, type Result } from "../../text/result.ts";
import { parseSelector } from "../../text/label-selector.ts";
import {
  annotationKey,
  MARKS,
  NAMESPACE_ANNOTATIONS,
  PREFIX,
  PULL_ANNOTATIONS,
  REFUSED_NAME_PREFIX,
  REFUSED_ON_PULL,
  SOURCE_ANNOTATIONS,
  type AnnotationName,
} from "./vocabulary.ts";
import {
  NO_ANNOTATION,
  type Accept,
  type NamespaceMatch,
  type OnDelete,
  type Problem,
  type Rule,
} from "./rules.ts";
import type { StringMap } from "../../text/string-map.ts";

export type Annotations = StringMap;

export type SourceText = {
  readonly rule: Rule;
  readonly keys: KeyFilter;
  readonly copyLabels: GlobList | undefined;
  readonly copyAnnotations: GlobList | undefined;
  readonly problems: readonly Problem[];
};

export type PullText = {
  readonly from: Ref | undefined;
  readonly keys: KeyFilter;
  readonly onDelete: OnDelete;
  readonly problems: readonly Problem[];
};

/** Whether this object has any of the annotations `names`. */
export function carries(annotations: Annotations, names: readonly AnnotationName[]): boolean {
  return names.some((name) => Object.hasOwn(annotations, annotationKey(name)));
}

/** `name`: the source's own, which its copies bear unless it says otherwise. */
export function parseSource(annotations: Annotations, name: string): SourceText {
  const reader = new Reader(annotations);
  const any = reader.read("match", parseMatch) === "any";
  const rule: Rule = {
    to: reader.namespaceMatch("to", "to-selector", any),
    allow: reader.namespaceMatch("allow", "allow-selector", any),
    copyName: reader.read("name", parseCopyName) ?? name,
    onDelete: reader.read("on-delete", parseOnDelete),
    paused: reader.read("paused", parseBoolean) ?? false,
  };
  const keys = reader.read("keys", parseKeys) ?? ALL_KEYS;
  const copyLabels = reader.read("copy-labels", list(METADATA_GLOBS));
  const copyAnnotations = reader.read("copy-annotations", list(METADATA_GLOBS));
  if (any) reader.needsPair();
  reader.misplaced("adopt", `${NO_ANNOTATION}: a source is nobody's copy`);
  reader.unknown([...SOURCE_ANNOTATIONS, "adopt"]);
  return { rule, keys, copyLabels, copyAnnotations, problems: reader.problems };
}

export function parsePull(annotations: Annotations): PullText {
  const reader = new Reader(annotations);
  const from = reader.read("from", parseSourceRef);
  const keys = reader.read("keys", parseKeys) ?? ALL_KEYS;
  const onDelete = reader.read("on-delete", parseOnDelete) ?? "delete";
  for (const name of REFUSED_ON_PULL) {
    reader.misplaced(
      name,
      `${NO_ANNOTATION}, or no ${annotationKey("from")}: a pulling Secret is no source`,
    );
  }
  reader.unknown([...PULL_ANNOTATIONS, ...SOURCE_ANNOTATIONS, "adopt"]);
  return { from, keys, onDelete, problems: reader.problems };
}

export function parseAccept(annotations: Annotations): Accept {
  const reader = new Reader(annotations);
  const accept = reader.read("accept", parseAcceptValue);
  reader.unknown(NAMESPACE_ANNOTATIONS);
  const problem = reader.problems[0];
  if (problem) return { kind: "problem", problem };
  return accept ?? { kind: "absent" };
}

/** The value of `adopt`, or undefined where it is not NAMESPACE/NAME. */
export function parseAdopt(annotations: Annotations): Ref | undefined {
  // The guardrail takes the same blanks off its ends, but knows this one as a letter.
  if ((annotations[annotationKey("adopt")] ?? "").includes("\uFEFF")) return undefined;
  return new Reader(annotations).read("adopt", parseSourceRef);
}

// Nobody reads more, and every one is kept as long as the Secret is.
const MOST_PROBLEMS = 20;

class Reader {
  readonly problems: Problem[] = [];
  readonly #annotations: Annotations;

  constructor(annotations: Annotations) {
    this.#annotations = annotations;
  }

  read<T>(name: AnnotationName, parse: (text: string) => Result<T>): T | undefined {
    const annotation = annotationKey(name);
    if (!this.#has(name)) return undefined;
    const whole = this.#annotations[annotation] ?? "";
    const trimmed = whole.trim();
    const text = trimmed.length === whole.length ? whole : detached(trimmed);
    const result = text === "" ? invalid(text, `a value, or ${NO_ANNOTATION}`) : parse(text);
    if (result.ok) return result.value;
    this.problems.push({ annotation, ...result.fault });
    return undefined;
  }

  /** `any`: where both annotations are given, one that matches is enough. */
  namespaceMatch(
    globWord: AnnotationName,
    selectorWord: AnnotationName,
    any: boolean,
  ): NamespaceMatch | undefined {
    const either = any && this.#has(globWord) && this.#has(selectorWord);
    const globs = this.read(globWord, either ? parsePositives : list(NAMESPACE_GLOBS));
    const selector = this.read(selectorWord, parseSelector);
    return globs || selector ? { globs, selector, any: either } : undefined;
  }

  /** Without a pair of annotations `any` has no effect, and the annotation that it needs is missing. */
  needsPair(): void {
    const paired = PAIRS.some((pair) => pair.every((name) => this.#has(name)));
    if (paired) return;
    const annotation = annotationKey("match");
    const expected = `${PAIRS.map((pair) => pair.join(" and ")).join(", or ")} with it, or no match`;
    this.problems.push({ annotation, ...invalid("any", expected).fault });
  }

  #has(name: AnnotationName): boolean {
    return Object.hasOwn(this.#annotations, annotationKey(name));
  }

  misplaced(name: AnnotationName, expected: string): void {
    const annotation = annotationKey(name);
    if (!this.#has(name)) return;
    const { fault } = invalid(this.#annotations[annotation] ?? "", expected);
    this.problems.push({ annotation, ...fault });
  }

  unknown(known: readonly AnnotationName[]): void {
    const keys = new Set([...known, ...MARKS].map(annotationKey));
    const expected = `one of ${known.join(", ")}`;
    for (const annotation of Object.keys(this.#annotations)) {
      if (!annotation.startsWith(PREFIX) || keys.has(annotation)) continue;
      if (this.problems.length >= MOST_PROBLEMS) return;
      const part = annotation.slice(PREFIX.length);
      this.problems.push({ annotation, ...invalid(part, expected).fault });
    }
  }
}

const PAIRS = [
  ["to", "to-selector"],
  ["allow", "allow-selector"],
] as const satisfies readonly (readonly AnnotationName[])[];

function parseMatch(text: string): Result<"all" | "any"> {
  return text === "all" || text === "any" ? ok(text) : invalid(text, '"all" or "any"');
}

// "!" globs alone start from every namespace: with `any`, no label would count beside them.
function parsePositives(text: string): Result<GlobList> {
  const globs = parseGlobList(text, NAMESPACE_GLOBS);
  if (!globs.ok || hasPositive(text)) return globs;
  const expected = `a glob without "!" as well, or ${annotationKey("match")} off`;
  return invalid(text, expected);
}

function list(alphabet: GlobAlphabet): (text: string) => Result<GlobList> {
  return (text) => parseGlobList(text, alphabet);
}

function parseAcceptValue(text: string): Result<Accept> {
  if (text === "true") return ok({ kind: "all" });
  if (text === "false") return ok({ kind: "none" });
  const globs = parseGlobList(text, SOURCE_GLOBS, "*/*");
  return globs.ok ? ok({ kind: "sources", globs: globs.value }) : globs;
}

function parseCopyName(text: string): Result<string> {
  if (!isSecretName(text)) return invalid(text, SECRET_NAME_FORM);
  if (text.startsWith(REFUSED_NAME_PREFIX)) return invalid(text, "a name that is not Helm's own");
  return ok(text);
}

export function parseOnDelete(text: string): Result<OnDelete> {
  return text === "delete" || text === "keep" ? ok(text) : invalid(text, '"delete" or "keep"');
}

function parseBoolean(text: string): Result<boolean> {
  if (text === "true" || text === "false") return ok(text === "true");
  return invalid(text, '"true" or "false"');
}

function parseSourceRef(text: string): Result<Ref> {
  const ref = parseRef(text);
  return ref ? ok(ref) : invalid(text, REF_FORM);
}
