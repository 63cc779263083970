// A source as it will be: where it lies, its new annotations, the namespaces that it gains and loses by
// them. Whether we take it as a source at all is asked of the reader that the controller uses.
import { newWords, type NewWords } from "./new-words.ts";
import { entryFor, type MoveList } from "./list-moves.ts";
import type { PatternAnswers } from "./old-patterns.ts";
import {
  namesOf,
  type OldContent,
  type OldSet,
  type OldSource,
  type OldTargets,
} from "./old-tool.ts";
import type { OldNamespace, OldObject } from "./old-objects.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import { problemText } from "../annotations/rules.ts";
import { refText, type Ref } from "../annotations/names.ts";
import { annotationKey, PREFIX, isMark, ANNOTATION_NAMES } from "../annotations/vocabulary.ts";
import { isNeverCopied } from "../annotations/never-copied.ts";
import { exclusion } from "../desired/namespace-rules.ts";
import { covers } from "../desired/targets.ts";
import type { Namespace, PlannerSettings, SourceObject, SourcePayload } from "../model/cluster.ts";
import { KINDS } from "../model/kinds.ts";
import { readObject } from "../observed/read-object.ts";
import type { Desired } from "../model/actions.ts";
import type { Digest } from "../model/secret-data.ts";

type Texts = Readonly<Record<string, string>>;

export type LostNamespace = { readonly namespace: string; readonly why: string };

export type MovedSource = {
  readonly old: OldSource;
  readonly place: Ref;
  /** `none`: it is so already, or reaches nothing. `refused`: it does not move; problems say why. */
  readonly write: "annotate" | "create" | "enter" | "none" | "refused";
  /** Of the source list, which it moves by; then its annotations are not written. */
  readonly entry: ListEntry | undefined;
  /** Present unless it is to be created. */
  readonly object: OldObject | undefined;
  readonly annotations: Texts;
  /** Of a Secret that is to be created. */
  readonly content: OldContent | undefined;
  /** Namespaces that it names from now on and may reach. */
  readonly reached: readonly string[];
  readonly gained: readonly string[];
  readonly lost: readonly LostNamespace[];
  /** Who else writes it, so that annotations may have to be put elsewhere as well. */
  readonly madeBy: string | undefined;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
};

export type MoveContext = {
  readonly old: readonly OldNamespace[];
  /** As they will be. */
  readonly namespaces: readonly Namespace[];
  readonly answers: PatternAnswers;
  readonly settings: PlannerSettings;
  readonly digest: Digest;
  /** undefined: there is none to be. */
  readonly list: MoveList | undefined;
  /** Sources that something else makes are entered into it. */
  readonly byList: boolean;
};

/** `object`: the Secret that is to be annotated; undefined: one is to be created at `place`. */
export function moveSource(
  old: OldSource,
  place: Ref,
  object: OldObject | undefined,
  context: MoveContext,
): MovedSource {
  const { content } = old;
  const notes = [...old.notes];
  const problems = [...old.problems];
  if (old.going !== undefined) problems.push(old.going);
  if (!content) problems.push("what it holds is not known");
  const pieces = [wordsFor("push", old, place, context), wordsFor("allow", old, place, context)];
  for (const { notes: told, problem } of pieces) {
    notes.push(...told);
    if (problem !== undefined) problems.push(problem);
  }
  const annotations = {
    ...pieces[0]?.annotations,
    ...pieces[1]?.annotations,
    ...shape(old, place, content),
  };
  const named = ["to", "to-selector", "allow", "allow-selector"] as const;
  if (problems.length === 0 && !named.some((word) => annotationKey(word) in annotations)) {
    const note = "it reaches no namespace and allows none: there is nothing to move";
    return { ...NOTHING, old, place, object, content, notes: [...notes, note] };
  }
  const madeBy = object && makerOf(object);
  const entry = entryOf(place, annotations, madeBy, context);
  const done = entry
    ? context.list?.present?.data?.[entry.key] === entry.text
    : object && isAnnotated(object, annotations, problems);
  const raw = content && rawSource(place, object, content, entry ? {} : annotations);
  const read = raw === undefined ? undefined : readMoved(raw, context, entry);
  if (read && problems.length === 0) problems.push(...read.problems);
  const refused = problems.length > 0;
  const writing = entry ? "enter" : object ? "annotate" : "create";
  return {
    old,
    place,
    write: refused ? "refused" : done === true ? "none" : writing,
    entry,
    object,
    annotations,
    content,
    ...difference(old, place, refused ? undefined : read?.content?.source, context),
    madeBy,
    notes,
    problems,
  };
}

// Of a source that something else makes, where that is wished, and of one that is entered already.
function entryOf(
  place: Ref,
  annotations: Texts,
  madeBy: string | undefined,
  { list, byList }: MoveContext,
): ListEntry | undefined {
  const entry = list && entryFor(place, annotations, list.ref);
  if (!entry) return undefined;
  const listed = list.present?.data?.[entry.key] === entry.text;
  return listed || (byList && madeBy !== undefined) ? entry : undefined;
}

// As it is to be; other words of ours are a problem.
function isAnnotated(object: OldObject, annotations: Texts, problems: string[]): boolean {
  const present = secretcastWords(object);
  const keys = Object.keys(present);
  const equal = Object.keys(annotations).every((key) => present[key] === annotations[key]);
  if (equal && keys.length === Object.keys(annotations).length) return true;
  if (keys.length > 0) {
    problems.push(`it has annotations of ours already, other ones: ${keys.join(", ")}`);
  }
  return false;
}

const NOTHING = {
  write: "none",
  annotations: {},
  reached: [],
  gained: [],
  lost: [],
  madeBy: undefined,
  entry: undefined,
  problems: [],
} as const;

function wordsFor(
  what: "push" | "allow",
  old: OldSource,
  place: Ref,
  { old: namespaces, answers }: MoveContext,
): NewWords {
  const targets = old[what];
  if (!targets) return { annotations: {}, notes: [], problem: undefined };
  return newWords(what, targets, place.namespace, namespaces, answers);
}

// Name, keys, and what is copied of labels and annotations.
function shape(old: OldSource, place: Ref, content: OldContent | undefined): Texts {
  const texts: Record<string, string> = {};
  if (old.copyName !== place.name) texts[annotationKey("name")] = old.copyName;
  // A Secret that is created holds the chosen entries alone.
  if (old.keys && old.object) texts[annotationKey("keys")] = old.keys.join(",");
  const kept = (all: Texts): string =>
    Object.keys(all)
      .filter((key) => !isNeverCopied(key))
      .toSorted()
      .join(",");
  const [labels, annotations] = [kept(content?.labels ?? {}), kept(content?.annotations ?? {})];
  if (old.push && labels !== "") texts[annotationKey("copy-labels")] = labels;
  if (old.push && annotations !== "") texts[annotationKey("copy-annotations")] = annotations;
  return texts;
}

const OUR_MARKS = new Set(ANNOTATION_NAMES.filter(isMark).map(annotationKey));

/** What stands on an object of our words, marks left out. */
export function secretcastWords({ annotations }: OldObject): Texts {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key.startsWith(PREFIX) && !OUR_MARKS.has(key)),
  );
}

/** As the API would give it. */
export function rawSource(
  place: Ref,
  object: OldObject | undefined,
  content: OldContent,
  annotations: Texts,
): unknown {
  const { uid = "00000000-0000-0000-0000-000000000000", resourceVersion = "1" } = object ?? {};
  const own = object ?? content;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...place,
      uid,
      resourceVersion,
      labels: own.labels,
      annotations: { ...own.annotations, ...annotations },
    },
    type: own.type,
    ...(own.immutable ? { immutable: true } : {}),
    data: own.data.reveal(),
  };
}

export type MovedContent = {
  readonly content: Desired | undefined;
  readonly payload: SourcePayload | undefined;
  readonly problems: readonly string[];
};

/** A source as the controller reads it. */
export function readMoved(
  raw: unknown,
  { settings, digest }: Pick<MoveContext, "settings" | "digest">,
  entry: ListEntry | undefined,
): MovedContent {
  let payload: SourcePayload | undefined;
  const read = readObject(raw, {
    kind: KINDS.Secret,
    digest,
    intern: (text) => text,
    share: (_, face) => face,
    isSourceNamespace: () => true,
    copyable: settings,
    ...(entry && { entryOf: () => entry }),
    keep: (_, kept) => (payload = kept),
  });
  const none = { content: undefined, payload: undefined };
  if (read?.role !== "source") {
    return { ...none, problems: ["it is a copy or a mirror already, and no source of ours"] };
  }
  if (!read.replica) return { ...none, problems: read.problems.map(problemText) };
  return { content: { source: read, replica: read.replica }, payload, problems: [] };
}

type Difference = Pick<MovedSource, "reached" | "gained" | "lost">;

function difference(
  old: OldSource,
  place: Ref,
  source: SourceObject | undefined,
  context: MoveContext,
): Difference {
  const before = reachedBefore(old.push, place, old, context);
  const reached: string[] = [];
  const lost: LostNamespace[] = [];
  for (const namespace of context.namespaces) {
    const { name } = namespace;
    const why = source && whyNot(source, place, namespace, context.settings);
    if (source && why === undefined) reached.push(name);
    else if (before.has(name))
      lost.push({ namespace: name, why: why ?? "its source does not move" });
  }
  return { reached, gained: reached.filter((name) => !before.has(name)), lost };
}

function reachedBefore(
  push: OldTargets | undefined,
  place: Ref,
  { object, copyName }: OldSource,
  { old, answers }: MoveContext,
): ReadonlySet<string> {
  const set: OldSet = push
    ? namesOf(push, old, answers)
    : { kind: "names", names: new Set<string>() };
  if (set.kind === "unknown") return new Set();
  const self = object ?? place;
  return new Set(
    [...set.names].filter((name) => name !== self.namespace || copyName !== self.name),
  );
}

/** Why a namespace is not reached; undefined: it is. */
function whyNot(
  { rule }: SourceObject,
  place: Ref,
  namespace: Namespace,
  settings: PlannerSettings,
): string | undefined {
  if (namespace.name === place.namespace) return "it is the source's own namespace";
  if (!rule.to || !covers(rule.to, namespace)) return "its new words do not name it";
  const excluded = exclusion(settings, namespace.name);
  if (excluded !== undefined) return excluded;
  const { accept } = namespace;
  const taken =
    accept.kind === "all" ||
    (accept.kind === "absent" && settings.namespacePolicy === "opt-out") ||
    (accept.kind === "sources" && accept.globs.matches(refText(place)));
  return taken ? undefined : "the namespace does not accept it";
}

/** Who else writes an object, as far as it shows; undefined: nobody that shows. */
function makerOf({ owners, labels, annotations }: OldObject): string | undefined {
  const certificate = annotations["cert-manager.io/certificate-name"];
  if (certificate !== undefined) return `the Certificate ${certificate}`;
  const [owner] = owners;
  if (owner !== undefined) return `its owner, a ${owner}`;
  if ("argocd.argoproj.io/tracking-id" in annotations) return "Argo CD";
  if (Object.keys(labels).some((key) => key.includes("fluxcd.io/"))) return "Flux";
  if ("meta.helm.sh/release-name" in annotations) {
    return `the Helm release ${annotations["meta.helm.sh/release-name"]}`;
  }
  const manager = labels["app.kubernetes.io/managed-by"];
  return manager === undefined ? undefined : manager;
}
