// The rules about one object alone, which decide whether it is a source, with their answers in order.
import type {
  CachedObject,
  ClusterState,
  PlannerSettings,
  PullingObject,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { isNameRead, nameToAdd } from "../../controller/annotations/name-scope.ts";
import { isRead, sourceRank } from "../../controller/desired/namespace-rules.ts";
import {
  NO_ANNOTATION,
  type NamespaceMatch,
  type Problem,
  problemText,
} from "../../controller/annotations/rules.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { ignoredText } from "../../controller/annotations/ignored.ts";
import type { ListEntry } from "../../controller/annotations/list-entry.ts";
import { type Ref, refText } from "../../text/names.ts";
import {
  annotationKey,
  isUnknownKey,
  PREFIX,
  type AnnotationName,
} from "../../controller/annotations/vocabulary.ts";
import type { ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import { failing, holding, ruleAnswer, unreadAnswer, type RuleAnswer } from "./answer.ts";
import {
  annotateKey,
  annotateObject,
  kubectlOn,
  kubectlWord,
  annotateSource,
} from "./what-to-type.ts";

export const NOT_PAUSED = "the source is not paused";
const NAMED = "the source list names it";
const ASKS = "it asks for copies";
const NEITHER = `it carries neither ${annotationKey("to")} nor ${annotationKey("to-selector")}`;
const ASKING: ReadonlySet<string> = new Set([annotationKey("to"), annotationKey("to-selector")]);
export const EXISTS = "it exists";
export const UNDERSTOOD = "its annotations are valid";
const SOURCE_UNDERSTOOD = "the annotations of its source are valid";

/** `object` is undefined when it does not exist. */
export function objectAnswers(
  subject: Ref,
  object: CachedObject | undefined,
  clusterState: ClusterState,
  settings: PlannerSettings,
  rights: ReaderRights,
): readonly RuleAnswer[] {
  if (!object) return [absent(subject, clusterState, settings, rights)];
  const exists = holding(EXISTS, "it is there");
  switch (object.role) {
    case "copy": {
      const source = refText(object.template.source);
      return [exists, failing("it is no copy", `it is a copy of ${source}, and never a source`)];
    }
    case "pull":
      return [exists, pulls(object)];
    case "unmanaged": {
      const entry = refusedEntry(subject, clusterState);
      if (entry) return [entry, exists];
      return [
        scope(subject, settings, rights),
        exists,
        asksNothing(object, clusterState, settings),
      ];
    }
    case "source":
      return [
        object.entry ? named(object.entry) : scope(subject, settings, rights),
        exists,
        ...sourceAnswers(object, clusterState),
        ...pushes(object),
      ];
  }
}

/** Answers for a pulling object and the source that it pulls from. */
export function pullAnswers(
  pull: PullingObject,
  source: CachedObject | undefined,
  clusterState: ClusterState,
  settings: PlannerSettings,
  rights: ReaderRights,
): readonly RuleAnswer[] {
  const own = problems(pull.kind, pull, pull.problems);
  const { from } = pull;
  if (!from) return own;
  const text = refText(from);
  const entry = source?.role === "source" ? source.entry : undefined;
  if (source?.role === "source") {
    const first = entry ? named(entry) : scope(from, settings, rights);
    const about = sourceAnswers(source, clusterState).map((answer) =>
      answer.rule === UNDERSTOOD ? { ...answer, rule: SOURCE_UNDERSTOOD } : answer,
    );
    return [...own, first, ...about, goes(source)];
  }
  const shown = source ? [...own, scope(from, settings, rights)] : own;
  const isSource = "what it pulls from is a source";
  const unread = rights.namespace(from.namespace);
  const unnamed = unnamedText(from.name, settings);
  if (unnamed !== undefined) return [...shown, failing(isSource, unnamed)];
  if (!source && unread !== undefined) return [...shown, unreadAnswer(isSource, unread)];
  if (!source) return [...shown, failing(isSource, `there is no ${pull.kind} ${text}`)];
  const change = annotateObject(pull.kind, from, "allow", pull.namespace);
  return [...shown, failing(isSource, `${pull.kind} ${text} is none`, change)];
}

function absent(
  subject: Ref,
  clusterState: ClusterState,
  settings: PlannerSettings,
  rights: ReaderRights,
): RuleAnswer {
  const { namespace, name } = subject;
  const rule = EXISTS;
  const leftOut = leftOutText(subject, settings);
  if (leftOut !== undefined) return failing(rule, leftOut);
  const unread = rights.namespace(namespace);
  if (unread !== undefined) return unreadAnswer(rule, unread);
  if (!clusterState.namespaces.has(namespace))
    return failing(
      rule,
      `there is no namespace ${namespace}`,
      `create the ${clusterState.kind} again, in its namespace: kubectl create namespace ${namespace}`,
    );
  const change = `kubectl get ${kubectlWord(clusterState.kind)} -A --field-selector metadata.name=${name}`;
  return failing(rule, `there is no ${clusterState.kind} ${refText(subject)}`, change);
}

/** Why the flags leave out an object. Undefined: they do not. */
export function leftOutText(
  { namespace, name }: Ref,
  settings: PlannerSettings,
): string | undefined {
  const unread = `namespace ${namespace} is not read (--namespaces)`;
  return unnamedText(name, settings) ?? (isRead(settings, namespace) ? undefined : unread);
}

/** Undefined where objects of this name take part. */
function unnamedText(name: string, { onlyNames }: PlannerSettings): string | undefined {
  if (!onlyNames || isNameRead(onlyNames, name)) return undefined;
  return `objects named ${name} are not read (--only-names): ${nameToAdd(onlyNames, name)}`;
}

function pulls(object: PullingObject): RuleAnswer {
  const from = object.from ? `it pulls from ${refText(object.from)}` : "it wants to pull";
  return failing("it does not pull", `${from}, and never is a source`);
}

function named({ key }: ListEntry): RuleAnswer {
  const says = `its entry ${key} does: in any namespace, and whatever the object's annotations say`;
  return holding(NAMED, says);
}

function scope({ namespace }: Ref, settings: PlannerSettings, rights: ReaderRights): RuleAnswer {
  const { text } = settings.sourceNamespaces;
  const rule = "its namespace is a source namespace";
  if (rights.settings !== undefined) return failing(rule, `unknown: ${rights.settings}`);
  // To open a namespace for publishing is no advice for one object.
  const listed = settings.sourceList === undefined ? "" : ", or name it in the source list";
  return ruleAnswer(rule, isSourceNamespace(namespace, settings), {
    yes: `${namespace} is one (--source-namespaces ${text})`,
    no: `${namespace} is none (--source-namespaces ${text})`,
    change: `put it into a source namespace${listed}`,
  });
}

function isSourceNamespace(namespace: string, settings: PlannerSettings): boolean {
  return sourceRank(settings, namespace) >= 0;
}

/** The entry of the source list that names the object and is refused. */
function refusedEntry(subject: Ref, { kind, list }: ClusterState): RuleAnswer | undefined {
  if (list?.state !== "read") return undefined;
  for (const { object, problems } of list.entries()) {
    const [problem] = problems;
    if (!object || !problem || object.kind !== kind) continue;
    if (refText(object) === refText(subject))
      return failing(NAMED, problemText(problem), "correct it in the source list");
  }
  return undefined;
}

function asksNothing(
  object: CachedObject & { readonly role: "unmanaged" },
  { kind }: ClusterState,
  settings: PlannerSettings,
): RuleAnswer {
  if (object.ignored) return failing(ASKS, ignoredText(kind, object.ignored));
  const isPublishing = isSourceNamespace(object.namespace, settings);
  const change = isPublishing ? annotateObject(kind, object, "to", "NAMESPACES") : undefined;
  return failing(ASKS, NEITHER, change);
}

function sourceAnswers(source: SourceObject, clusterState: ClusterState): readonly RuleAnswer[] {
  const ending = clusterState.namespaces.get(source.namespace)?.terminating === true;
  return [
    ...problems(source.kind, source, source.problems),
    ruleAnswer("it is not being deleted", !source.deleting && !ending, {
      yes: "ok, not being deleted",
      no: source.deleting ? "it is being deleted" : "its namespace is being deleted",
    }),
  ];
}

function pushes(source: SourceObject): readonly RuleAnswer[] {
  const { to } = source.rule;
  // A problem with the annotations that ask for copies is already reported.
  const faulty = source.problems.some(({ annotation }) => ASKING.has(annotation));
  if (to === undefined && faulty) return [goes(source)];
  if (to === undefined && source.rule.allow)
    return [pulledOnly(source, source.rule.allow), goes(source)];
  const asks = ruleAnswer(ASKS, to !== undefined, {
    yes: matchText(to, "to", "to-selector"),
    no: source.ignored ? ignoredText(source.kind, source.ignored) : NEITHER,
    change: annotateSource(source, "to", "NAMESPACES"),
  });
  return [asks, goes(source)];
}

/** The source is copied only to namespaces that ask for it. */
function pulledOnly(source: SourceObject, allow: NamespaceMatch): RuleAnswer {
  const { kind } = source;
  const who = matchText(allow, "allow", "allow-selector");
  const taker = { namespace: "NAMESPACE", name: "NAME" };
  return failing(
    ASKS,
    `it is for ${kind}s that pull from it, in namespaces of ${who}`,
    annotateObject(kind, taker, "from", refText(source)),
  );
}

function goes(source: SourceObject): RuleAnswer {
  return ruleAnswer(NOT_PAUSED, !source.rule.paused, {
    yes: "ok, not paused",
    no: `${annotationKey("paused")} is true: its copies stay as they are`,
    change: annotateSource(source, "paused", undefined),
  });
}

function problems(kind: ObjectKind, object: Ref, found: readonly Problem[]): readonly RuleAnswer[] {
  if (found.length === 0) return [holding(UNDERSTOOD, "it is")];
  return found.map((problem) =>
    failing(UNDERSTOOD, problemText(problem), correction(kind, object, problem)),
  );
}

/** The command for when an annotation, or the object itself, is the problem. */
function correction(kind: ObjectKind, object: Ref, { annotation, expected }: Problem): string {
  // An entry of the source list is named as it is.
  if (annotation.startsWith("entry ")) return "correct it in the source list";
  if (annotation === "data") return `correct its data: ${kubectlOn("edit", kind, object)}`;
  if (!annotation.startsWith(PREFIX))
    return `take another ${kind}: a ${annotation} cannot be changed`;
  const off = isUnknownKey(annotation) || expected.startsWith(NO_ANNOTATION);
  return annotateKey(kind, object, annotation, off ? undefined : "VALUE");
}

function matchText(
  match: NamespaceMatch | undefined,
  globAnnotation: AnnotationName,
  selectorAnnotation: AnnotationName,
): string {
  const { globs, selector, any = false } = match ?? {};
  return [
    globs && `${annotationKey(globAnnotation)}: ${globs.text}`,
    selector && `${annotationKey(selectorAnnotation)}: ${selector.text}`,
  ]
    .filter((text) => text !== undefined)
    .join(any ? ", or " : ", ");
}
