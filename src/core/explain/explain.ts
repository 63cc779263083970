// Why a Secret is, or is not, copied somewhere: every rule on the way and its answer, in the order in
// which the planner asks them. The verdict beside it is the plan's own; where the plan has no row, the
// place is current (wanted) or skipped.
import {
  type Namespace,
  type CachedObject,
  type PlannerSettings,
  type SourceObject,
  type ClusterState,
} from "../model/cluster.ts";
import { secretSteps, step, type Step } from "./explain-secret.ts";
import { exclusion } from "../desired/namespace-rules.ts";
import { targetsOf, wantOf, type TargetNamespace } from "../desired/targets.ts";
import type { Plan, Row, Verdict } from "../model/verdicts.ts";
import { problemText, type NamespaceMatch } from "../annotations/rules.ts";
import { type Ref, refText } from "../annotations/names.ts";

export type PlaceAnswer = {
  readonly place: Ref;
  readonly source: Ref;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly steps: readonly Step[];
};

export type Explanation = {
  readonly subject: Ref;
  readonly is: "source" | "copy" | "pulling Secret" | "other Secret" | "absent";
  /** About the Secret itself. */
  readonly steps: readonly Step[];
  /** Per namespace; for a copy or a pulling Secret its own place alone. */
  readonly places: readonly PlaceAnswer[];
};

/** `namespace`: only there; undefined: in every namespace, by name. */
export function explain(
  world: ClusterState,
  settings: PlannerSettings,
  plan: Plan,
  subject: Ref,
  namespace?: string,
): Explanation {
  const secret = world.objectsIn(subject.namespace).get(subject.name);
  const steps = secretSteps(subject, secret, settings);
  switch (secret?.role) {
    case undefined:
      return { subject, is: "absent", steps, places: [] };
    case "source":
      return {
        subject,
        is: "source",
        steps,
        places: places(world, settings, plan, secret, namespace),
      };
    case "stranger":
      return { subject, is: "other Secret", steps, places: [] };
    case "pull":
      return {
        subject,
        is: "pulling Secret",
        steps,
        places: [ownPlace(plan, secret, secret.from ?? subject)],
      };
    case "copy":
      return { subject, is: "copy", steps, places: [ownPlace(plan, secret, secret.source)] };
  }
}

function places(
  world: ClusterState,
  settings: PlannerSettings,
  plan: Plan,
  source: SourceObject,
  only: string | undefined,
): readonly PlaceAnswer[] {
  const names = only === undefined ? [...world.namespaces.keys()].toSorted() : [only];
  const targets = new Map(targetsOf(world, settings).map((target) => [target.name, target]));
  const rows = new Map(plan.rows.map((row) => [rowKey(row), row]));
  return names.map((name) => {
    const target = targets.get(name);
    const place = { namespace: name, name: source.rule.copyName };
    const steps = target
      ? placeSteps(source, target, settings)
      : [unreadStep(settings, name) ?? livingStep(world.namespaces.get(name), name)];
    const kept = target && isKept(source, target);
    const wanted = source.replica !== undefined && steps.every(({ holds }) => holds || kept);
    const row = rows.get(rowKey({ place, source }));
    return answer(place, source, row, wanted && source.rule.to !== undefined, steps);
  });
}

function rowKey({ place, source }: Pick<Row, "place" | "source">): string {
  return `${refText(place)} ${refText(source)}`;
}

function answer(
  place: Ref,
  source: Ref,
  row: Row | undefined,
  wanted: boolean,
  steps: readonly Step[],
): PlaceAnswer {
  const verdict = row?.verdict ?? (wanted ? "current" : "skip");
  const refused = steps.find(({ holds }) => !holds);
  const otherwise = wanted
    ? "the copy is what it should be"
    : (refused?.answer ?? "it is not wanted there");
  const { namespace, name } = source;
  return { place, source: { namespace, name }, verdict, reason: row?.reason ?? otherwise, steps };
}

// Of what is not read it is not known whether it exists.
function unreadStep({ scope }: PlannerSettings, name: string): Step | undefined {
  if (scope?.watched.has(name) !== false) return undefined;
  return step("it is listed", false, `namespace ${name} is not listed (--namespaces)`);
}

function livingStep(namespace: Namespace | undefined, name: string): Step {
  const rule = "the namespace exists and is not being deleted";
  if (!namespace) return step(rule, false, `there is no namespace ${name}`);
  return step(
    rule,
    !namespace.terminating,
    namespace.terminating ? `${name} is being deleted` : name,
  );
}

function placeSteps(
  source: SourceObject,
  target: TargetNamespace,
  settings: PlannerSettings,
): readonly Step[] {
  const { name, namespace } = target;
  const { to } = source.rule;
  const excluded = exclusion(settings, name);
  const steps = [
    livingStep(namespace, name),
    step("it is not the source's own namespace", source.namespace !== name, name),
    step("it is not excluded", excluded === undefined, excluded ?? "it is not"),
  ];
  if (to) steps.push(...matchSteps(to, namespace));
  return [...steps, acceptStep(source, target, settings)];
}

function matchSteps({ globs, selector, any }: NamespaceMatch, namespace: Namespace): Step[] {
  const { name, labels } = namespace;
  const named = globs?.matches(name) ?? false;
  const labelled = selector?.matches(labels) ?? false;
  const ofName = globs && `${name} ${matching(named)}`;
  const ofLabels = selector && `the labels of ${name} ${matching(labelled)}`;
  if (any && globs && selector) {
    const rule = `secretcast.io/to: ${globs.text}, or secretcast.io/to-selector: ${selector.text} (match: any)`;
    const excluded = globs.excludes(name);
    const says = excluded ? `${name} is excluded by a "!" glob` : `${ofName}, ${ofLabels}`;
    return [step(rule, !excluded && (named || labelled), says)];
  }
  return [
    globs && step(`secretcast.io/to: ${globs.text}`, named, ofName ?? ""),
    selector && step(`secretcast.io/to-selector: ${selector.text}`, labelled, ofLabels ?? ""),
  ].filter((each) => each !== undefined);
}

function matching(matches: boolean): string {
  return matches ? "match" : "do not match";
}

// Under opt-in a namespace without `accept` keeps the copies that are there.
function isKept(source: SourceObject, target: TargetNamespace): boolean {
  const present = target.secrets.get(source.rule.copyName);
  const ours = present?.role === "copy" && refText(present.source) === refText(source);
  if (!ours || source.rule.to === undefined) return false;
  const { namespace } = source;
  return wantOf({ namespace, text: refText(source), push: source.rule.to }, target) === "kept";
}

function acceptStep(
  source: SourceObject,
  target: TargetNamespace,
  settings: PlannerSettings,
): Step {
  const everything = { globs: undefined, selector: undefined, any: false };
  const asking = { namespace: "", text: refText(source), push: everything };
  const want = wantOf(asking, { ...target, excluded: undefined });
  const { accept } = target.namespace;
  const says =
    accept.kind === "absent"
      ? `no secretcast.io/accept on ${target.name}, and the policy is ${settings.namespacePolicy} (--namespace-policy)${want === "kept" ? ": copies that are there stay, nothing new comes" : ""}`
      : accept.kind === "problem"
        ? problemText(accept.problem)
        : `secretcast.io/accept on ${target.name}: ${accept.kind === "sources" ? accept.globs.text : String(accept.kind === "all")}`;
  return step("the namespace accepts copies of this source", want === "wanted", says);
}

function ownPlace(plan: Plan, secret: CachedObject, source: Ref): PlaceAnswer {
  const { namespace, name } = secret;
  const row =
    plan.rows.find((one) => refText(one.place) === refText(secret) && one.verdict !== "conflict") ??
    plan.rows.find((one) => refText(one.place) === refText(secret));
  return answer({ namespace, name }, source, row, true, []);
}
