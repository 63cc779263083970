// The rules about one object alone, which decide whether it is a source, with their answers in order.
import type {
  CachedObject,
  ClusterState,
  PlannerSettings,
  PullingObject,
  SourceObject,
  UnmanagedObject,
} from "../../controller/model/cluster.ts";
import { because, reasonText } from "../../controller/model/reasons.ts";
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
import { annotate, annotateSource, kubectlOn } from "./commands.ts";

export const NOT_PAUSED = "the source is not paused";
const NAMED = "the source list names it";
const ASKS = "it asks for copies";
const NEITHER = `it carries neither ${annotationKey("to")} nor ${annotationKey("to-selector")}`;
const ASKING: ReadonlySet<string> = new Set([annotationKey("to"), annotationKey("to-selector")]);
const EXISTS = "it exists";
const UNDERSTOOD = "its annotations are valid";
const CORRECT_THE_LIST = "correct it in the source list";
const SOURCE_UNDERSTOOD = "the annotations of its source are valid";

/** `object` is undefined when it does not exist. */
export function sourceAnswers(
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
    case "pull": {
      const from = object.from ? `it pulls from ${refText(object.from)}` : "it wants to pull";
      return [exists, failing("it does not pull", `${from}, and never is a source`)];
    }
    case "unmanaged": {
      const { kind, list } = clusterState;
      const [refused] = list?.state === "read" ? (list.of(subject)?.problems ?? []) : [];
      if (refused) return [failing(NAMED, problemText(refused), CORRECT_THE_LIST), exists];
      return [scope(subject, settings, rights), exists, asksNothing(object, kind, settings)];
    }
    case "source":
      return [
        object.entry ? named(object.entry) : scope(subject, settings, rights),
        exists,
        ...problems(object.kind, object, object.problems),
        notDeleted(object, clusterState),
        ...asks(object, settings),
        ruleAnswer(NOT_PAUSED, !object.rule.paused, {
          yes: "ok, not paused",
          no: `${annotationKey("paused")} is true: its copies stay as they are`,
          change: annotateSource(object, "paused", undefined),
        }),
      ];
  }
}

/** Answers for a pulling object and the source that it pulls from. It does not ask for a push. */
export function pullingAnswers(
  pull: PullingObject,
  source: CachedObject | undefined,
  clusterState: ClusterState,
  settings: PlannerSettings,
  rights: ReaderRights,
): readonly RuleAnswer[] {
  const own = problems(pull.kind, pull, pull.problems);
  if (!pull.from) return own;
  const about = sourceAnswers(pull.from, source, clusterState, settings, rights)
    .filter(({ rule }) => rule !== ASKS)
    .map((answer) =>
      answer.rule === UNDERSTOOD ? { ...answer, rule: SOURCE_UNDERSTOOD } : answer,
    );
  return [...own, ...about];
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
  const change = `kubectl get ${clusterState.kind.toLowerCase()} -A --field-selector metadata.name=${name}`;
  return failing(rule, `there is no ${clusterState.kind} ${refText(subject)}`, change);
}

/** Why the flags leave out an object. Undefined: they do not. */
export function leftOutText(
  { namespace, name }: Ref,
  settings: PlannerSettings,
): string | undefined {
  const { onlyNames } = settings;
  if (onlyNames && !isNameRead(onlyNames, name))
    return reasonText(because("NameNotRead", { name, advice: nameToAdd(onlyNames, name) }));
  return isRead(settings, namespace)
    ? undefined
    : `namespace ${namespace} is not read (--namespaces)`;
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

function asksNothing(
  object: SourceObject | UnmanagedObject,
  kind: ObjectKind,
  settings: PlannerSettings,
): RuleAnswer {
  const entry = object.role === "source" ? object.entry : undefined;
  const { namespace, name, ignored } = object;
  const mayPublish = entry !== undefined || isSourceNamespace(namespace, settings);
  const change = annotateSource({ kind, namespace, name, entry }, "to", "NAMESPACES");
  const text = ignored ? ignoredText(kind, ignored) : NEITHER;
  return failing(ASKS, text, mayPublish ? change : undefined);
}

function notDeleted(source: SourceObject, { namespaces }: ClusterState): RuleAnswer {
  const ending = namespaces.get(source.namespace)?.terminating === true;
  return ruleAnswer("it is not being deleted", !source.deleting && !ending, {
    yes: "ok, not being deleted",
    no: source.deleting ? "it is being deleted" : "its namespace is being deleted",
  });
}

function asks(source: SourceObject, settings: PlannerSettings): readonly RuleAnswer[] {
  const { to, allow } = source.rule;
  if (to) return [holding(ASKS, matchText(to, "to", "to-selector"))];
  // A problem with the annotations that ask for copies is already reported.
  if (source.problems.some(({ annotation }) => ASKING.has(annotation))) return [];
  return [allow ? pulledOnly(source, allow) : asksNothing(source, source.kind, settings)];
}

/** The source is copied only to namespaces that ask for it. */
function pulledOnly(source: SourceObject, allow: NamespaceMatch): RuleAnswer {
  const { kind } = source;
  const who = matchText(allow, "allow", "allow-selector");
  const taker = { namespace: "NAMESPACE", name: "NAME" };
  return failing(
    ASKS,
    `it is for ${kind}s that pull from it, in namespaces of ${who}`,
    annotate(kind, taker, { [annotationKey("from")]: refText(source) }),
  );
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
  if (annotation.startsWith("entry ")) return CORRECT_THE_LIST;
  if (annotation === "data") return `correct its data: ${kubectlOn("edit", kind, object)}`;
  if (!annotation.startsWith(PREFIX))
    return `take another ${kind}: a ${annotation} cannot be changed`;
  const off = isUnknownKey(annotation) || expected.startsWith(NO_ANNOTATION);
  return annotate(kind, object, { [annotation]: off ? undefined : "VALUE" });
}

function matchText(
  { globs, selector, any }: NamespaceMatch,
  globAnnotation: AnnotationName,
  selectorAnnotation: AnnotationName,
): string {
  return [
    globs && `${annotationKey(globAnnotation)}: ${globs.text}`,
    selector && `${annotationKey(selectorAnnotation)}: ${selector.text}`,
  ]
    .filter((text) => text !== undefined)
    .join(any ? ", or " : ", ");
}
