// Asks the rules of a namespace about a source, with the planner's own functions and in the planner's order
// (desired/targets.ts, matchOf). A property test compares the two.
import { reasonText } from "../../controller/model/reasons.ts";
import type {
  CachedObject,
  Namespace,
  PlannerSettings,
  PullingObject,
  SourceObject,
} from "../../controller/model/cluster.ts";
import {
  excludedBy,
  exclusionReason,
  isRead,
  type Exclusion,
  sourceRank,
} from "../../controller/desired/namespace-rules.ts";
import { acceptance, covers, type TargetNamespace } from "../../controller/desired/targets.ts";
import { type NamespaceMatch, problemText } from "../../controller/annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import { shellWord } from "../../text/shell-word.ts";
import type { GlobList } from "../../text/globs.ts";
import type { Selector } from "../../text/label-selector.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import {
  failing,
  holding,
  ruleAnswer,
  unreadAnswer,
  type Known,
  type NamesNamespaces,
  type RuleAnswer,
} from "./answer.ts";
import { annotate, annotateSource, isShort, kubectlOn, withEntry } from "./commands.ts";

const NAMESPACE_EXISTS = "the namespace exists";

/** Why a namespace does not take part: it is not read, does not exist, or is being deleted. */
export function absentNamespaceAnswer(
  name: string,
  { clusterState, settings, rights }: Known,
): RuleAnswer {
  const rule = NAMESPACE_EXISTS;
  // Whether a namespace exists is unknown when it is not read.
  if (!isRead(settings, name)) return failing(rule, "the namespace is not read (--namespaces)");
  const unread = rights.namespace(name);
  if (unread !== undefined) return unreadAnswer(rule, unread);
  if (clusterState.namespaces.has(name))
    return failing(rule, "the namespace is being deleted, and takes part in nothing");
  return failing(rule, "there is no such namespace", `kubectl create namespace ${name}`);
}

/** Whether a place in a namespace gets a copy of the object. */
export function copyAnswers(
  object: CachedObject | undefined,
  place: Ref,
  target: TargetNamespace,
  settings: PlannerSettings,
): readonly RuleAnswer[] {
  if (object?.role !== "source") return [excludedAnswer(settings, target.name)];
  const { to, allow, copyName } = object.rule;
  return [
    ruleAnswer("its copies have this name", copyName === place.name, {
      yes: `they are called ${copyName}`,
      no: `its copies are now called ${copyName} and no longer ${place.name}`,
      change: annotateSource(object, "name", place.name),
    }),
    holding(NAMESPACE_EXISTS, "it does"),
    ruleAnswer("it is not the source's own", object.namespace !== target.name, {
      yes: "ok, another namespace",
      no: "it is the source's own namespace",
    }),
    excludedAnswer(settings, target.name),
    ...(to ? matchAnswers(object, to, target.namespace, "to") : []),
    ...(allow && !to ? matchAnswers(object, allow, target.namespace, "allow") : []),
    acceptAnswer(object, target, settings),
  ];
}

/** Whether a pulling object gets what `source` has. */
export function pullAnswers(
  { kind, from }: PullingObject,
  source: CachedObject | undefined,
  target: TargetNamespace,
  settings: PlannerSettings,
): readonly RuleAnswer[] {
  const excluded = excludedAnswer(settings, target.name);
  if (!from || (source?.role !== "source" && source?.role !== "unmanaged")) return [excluded];
  // Its annotations have no effect there, so nothing was read of them.
  if (source.role === "unmanaged" && sourceRank(settings, from.namespace) < 0) return [excluded];
  if (source.role === "source" && source.rule.allow)
    return [excluded, ...matchAnswers(source, source.rule.allow, target.namespace, "allow")];
  const entry = source.role === "source" ? source.entry : undefined;
  const rule = `${annotationKey("allow")}, ${annotationKey("allow-selector")}`;
  const change = annotateSource({ ...from, kind, entry }, "allow", target.name);
  return [excluded, failing(rule, "the source carries neither", change)];
}

function excludedAnswer(settings: PlannerSettings, name: string): RuleAnswer {
  const excluded = excludedBy(settings, name);
  const rule = "it is not excluded";
  if (excluded === undefined) return holding(rule, "ok, not excluded");
  const { flag } = excluded;
  const text = reasonText(exclusionReason(excluded));
  return failing(rule, text, `start the controller ${OTHER_FLAG[flag](name)}`);
}

const OTHER_FLAG: Readonly<Record<Exclusion["flag"], (name: string) => string>> = {
  "--namespaces": (name) => `with ${name} among --namespaces`,
  "--exclude-namespaces": (name) => `without ${name} in --exclude-namespaces`,
  "--include-system-namespaces": () => "with --include-system-namespaces",
};

function matchAnswers(
  source: SourceObject,
  match: NamespaceMatch,
  namespace: Namespace,
  by: NamesNamespaces,
): readonly RuleAnswer[] {
  const { globs, selector, any } = match;
  const byName = globs && nameAnswer(source, globs, namespace, by);
  const byLabels = selector && labelAnswer(selector, namespace, annotationKey(`${by}-selector`));
  if (any && globs && byName && byLabels) {
    const rule = `${byName.rule}, or ${byLabels.rule}`;
    if (covers(match, namespace)) return [{ ...(byName.holds ? byName : byLabels), rule }];
    if (globs.excludes(namespace.name)) return [{ ...byName, rule }];
    const changes = `${byName.change}; or: ${byLabels.change}`;
    return [failing(rule, `${byName.answer}, and ${byLabels.answer}`, changes)];
  }
  return [byName, byLabels].filter((answer) => answer !== undefined);
}

function nameAnswer(
  source: SourceObject,
  globs: GlobList,
  { name }: Namespace,
  annotation: NamesNamespaces,
): RuleAnswer {
  const key = annotationKey(annotation);
  const rule = `${key} names it`;
  if (globs.matches(name)) return holding(rule, `it matches ${key}: ${globs.text}`);
  if (!globs.excludes(name)) {
    const change = withEntry(source, annotation, globs.text, name);
    return failing(rule, `it does not match ${key}: ${globs.text}`, change);
  }
  const change = `take the ! entry off: ${annotateSource(source, annotation, "NAMESPACES")}`;
  return failing(rule, `a ! entry of ${key} excludes it: ${globs.text}`, change);
}

function labelAnswer(selector: Selector, { name, labels }: Namespace, key: string): RuleAnswer {
  return ruleAnswer(`${key} selects it`, selector.matches(labels), {
    yes: `its labels match ${key}: ${selector.text}`,
    no: `its labels do not match ${key}: ${selector.text}`,
    change: `${kubectlOn("label", "Namespace", { namespace: "", name })} --overwrite ${selector.changes(labels).map(shellWord).join(" ")}`,
  });
}

export const ACCEPTS = "the namespace accepts it";

function acceptAnswer(
  source: SourceObject,
  target: TargetNamespace,
  settings: PlannerSettings,
): RuleAnswer {
  const want = acceptance(refText(source), target.accept);
  const rule = ACCEPTS;
  const text = acceptText(target, settings);
  if (want === "wanted") return holding(rule, text);
  if (want === "kept" && isHere(source, target))
    return holding(rule, `${text}; the copy that is there stays, and is kept current`);
  return failing(rule, text, acceptChange(target, refText(source)));
}

function acceptChange({ name, namespace: { accept } }: TargetNamespace, source: string): string {
  const key = annotationKey("accept");
  const object = { namespace: "", name };
  const list = accept.kind === "sources" ? accept.globs : undefined;
  if (list && (list.excludes(source) || !isShort(list.text)))
    return `let its ${key} take ${source}: ${kubectlOn("edit", "Namespace", object)}`;
  const value = accept.kind === "problem" ? "true" : list ? `${list.text},${source}` : source;
  return annotate("Namespace", object, { [key]: value });
}

/** A copy of `source` at the place that it wants. */
function isHere(source: SourceObject, target: TargetNamespace): boolean {
  const present = target.secrets.get(source.rule.copyName);
  return present?.role === "copy" && refText(present.template.source) === refText(source);
}

function acceptText({ namespace }: TargetNamespace, settings: PlannerSettings): string {
  const { accept } = namespace;
  const key = annotationKey("accept");
  switch (accept.kind) {
    case "absent":
      return `it carries no ${key}, and the policy is ${settings.namespacePolicy} (--namespace-policy)`;
    case "problem":
      return problemText(accept.problem);
    case "all":
      return `its ${key} is true`;
    case "none":
      return `its ${key} is false`;
    case "sources":
      return `its ${key} is ${accept.globs.text}`;
  }
}
