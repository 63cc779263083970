// The rules about one object alone, which decide whether it is a source, with their answers in order.
import type {
  CachedObject,
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
import { annotationKey, isUnknownKey, PREFIX } from "../../controller/annotations/vocabulary.ts";
import {
  failing,
  holding,
  ruleAnswer,
  unreadAnswer,
  type Known,
  type NamesNamespaces,
  type RuleAnswer,
} from "./answer.ts";
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
  known: Known,
): readonly RuleAnswer[] {
  if (!object) return [absent(subject, known)];
  const { kind, list, namespaces } = known.clusterState;
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
      const [refused] = list?.state === "read" ? (list.of(subject)?.problems ?? []) : [];
      if (refused) return [failing(NAMED, problemText(refused), CORRECT_THE_LIST), exists];
      return [scope(subject, known), exists, asksNothing(object, kind, known)];
    }
    case "source": {
      const isEnding = namespaces.get(object.namespace)?.terminating === true;
      return [
        object.entry ? named(object.entry) : scope(subject, known),
        exists,
        ...problems(object.kind, object, object.problems),
        ruleAnswer("it is not being deleted", !object.deleting && !isEnding, {
          yes: "ok, not being deleted",
          no: object.deleting ? "it is being deleted" : "its namespace is being deleted",
        }),
        ...asks(object, known),
        ruleAnswer(NOT_PAUSED, !object.rule.paused, {
          yes: "ok, not paused",
          no: `${annotationKey("paused")} is true: its copies stay as they are`,
          change: annotateSource(object, "paused", undefined),
        }),
      ];
    }
  }
}

/** Answers for a pulling object and the source that it pulls from. It does not ask for a push. */
export function pullingAnswers(
  pull: PullingObject,
  source: CachedObject | undefined,
  known: Known,
): readonly RuleAnswer[] {
  const own = problems(pull.kind, pull, pull.problems);
  if (!pull.from) return own;
  const about = sourceAnswers(pull.from, source, known)
    .filter(({ rule }) => rule !== ASKS)
    .map((answer) =>
      answer.rule === UNDERSTOOD ? { ...answer, rule: SOURCE_UNDERSTOOD } : answer,
    );
  return [...own, ...about];
}

function absent(subject: Ref, { clusterState, settings, rights }: Known): RuleAnswer {
  const { namespace, name } = subject;
  const { kind, namespaces } = clusterState;
  const rule = EXISTS;
  const leftOut = leftOutText(subject, settings);
  if (leftOut !== undefined) return failing(rule, leftOut);
  const unread = rights.namespace(namespace);
  if (unread !== undefined) return unreadAnswer(rule, unread);
  if (!namespaces.has(namespace))
    return failing(
      rule,
      `there is no namespace ${namespace}`,
      `create the ${kind} again, in its namespace: kubectl create namespace ${namespace}`,
    );
  const change = `kubectl get ${kind.toLowerCase()} -A --field-selector metadata.name=${name}`;
  return failing(rule, `there is no ${kind} ${refText(subject)}`, change);
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

function scope({ namespace }: Ref, { settings, rights }: Known): RuleAnswer {
  const { text } = settings.sourceNamespaces;
  const rule = "its namespace is a source namespace";
  if (rights.settings !== undefined) return failing(rule, `unknown: ${rights.settings}`);
  // To open a namespace for publishing is no advice for one object.
  const listed = settings.sourceList === undefined ? "" : ", or name it in the source list";
  return ruleAnswer(rule, sourceRank(settings, namespace) >= 0, {
    yes: `${namespace} is one (--source-namespaces ${text})`,
    no: `${namespace} is none (--source-namespaces ${text})`,
    change: `put it into a source namespace${listed}`,
  });
}

function asksNothing(
  object: SourceObject | UnmanagedObject,
  kind: ObjectKind,
  { settings }: Known,
): RuleAnswer {
  const entry = object.role === "source" ? object.entry : undefined;
  const { namespace, name, ignored } = object;
  const mayPublish = entry !== undefined || sourceRank(settings, namespace) >= 0;
  const change = annotateSource({ kind, namespace, name, entry }, "to", "NAMESPACES");
  const text = ignored ? ignoredText(kind, ignored) : NEITHER;
  return failing(ASKS, text, mayPublish ? change : undefined);
}

function asks(source: SourceObject, known: Known): readonly RuleAnswer[] {
  const { to, allow } = source.rule;
  if (to) return [holding(ASKS, matchText(to, "to"))];
  // A problem with the annotations that ask for copies is already reported.
  if (source.problems.some(({ annotation }) => ASKING.has(annotation))) return [];
  return [allow ? pulledOnly(source, allow) : asksNothing(source, source.kind, known)];
}

/** The source is copied only to namespaces that ask for it. */
function pulledOnly(source: SourceObject, allow: NamespaceMatch): RuleAnswer {
  const { kind } = source;
  const who = matchText(allow, "allow");
  const taker = { namespace: "NAMESPACE", name: "NAME" };
  return failing(
    ASKS,
    `it is for ${kind}s that pull from it, in namespaces of ${who}`,
    annotate(kind, taker, { [annotationKey("from")]: refText(source) }),
  );
}

function problems(kind: ObjectKind, object: Ref, found: readonly Problem[]): readonly RuleAnswer[] {
  if (found.length === 0) return [holding(UNDERSTOOD, "they are")];
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

function matchText({ globs, selector, any }: NamespaceMatch, by: NamesNamespaces): string {
  return [
    globs && `${annotationKey(by)}: ${globs.text}`,
    selector && `${annotationKey(`${by}-selector`)}: ${selector.text}`,
  ]
    .filter((text) => text !== undefined)
    .join(any ? ", or " : ", ");
}
