// The namespaces that may receive, as one sync sees them, and whether a source matches one. The Secrets and
// settings of each are read once a sync, because every source meets every target.
import { because, type Reason } from "../model/reasons.ts";
import type { Namespace, CachedObject, PlannerSettings, ClusterState } from "../model/cluster.ts";
import { exclusion } from "./namespace-rules.ts";
import { problemText, type NamespaceMatch, type Accept } from "../annotations/rules.ts";

export type TargetNamespace = {
  readonly name: string;
  readonly namespace: Namespace;
  readonly secrets: ReadonlyMap<string, CachedObject>;
  /** Why it never receives anything. */
  readonly excluded: Reason | undefined;
  /** `kept`: it has said nothing under opt-in, so it keeps what is there and takes nothing new. */
  readonly accept: Exclude<Accept, { kind: "absent" }> | { readonly kind: "kept" };
  /** Names of --only-names that cannot be read there: their places stay as they are. */
  readonly unreadable: ReadonlySet<string>;
  /** 0 is the youngest namespace. */
  readonly order: number;
};

const ALL_READABLE: ReadonlySet<string> = new Set();

/** Namespaces being deleted take part in nothing and are not among them. */
export function targetsOf(
  clusterState: ClusterState,
  settings: PlannerSettings,
): readonly TargetNamespace[] {
  const living = [...clusterState.namespaces.values()].filter(
    (namespace) => !namespace.terminating,
  );
  living.sort(youngestFirst);
  return living.map((namespace, order) => ({
    name: namespace.name,
    namespace,
    secrets: clusterState.objectsIn(namespace.name),
    excluded: exclusion(settings, namespace.name),
    accept: withPolicy(namespace.accept, settings.namespacePolicy),
    unreadable: clusterState.unreadableNames?.(namespace.name) ?? ALL_READABLE,
    order,
  }));
}

function youngestFirst(a: Namespace, b: Namespace): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** What a namespace says, or the policy where it says nothing. */
export function withPolicy(
  accept: Accept,
  policy: PlannerSettings["namespacePolicy"],
): TargetNamespace["accept"] {
  if (accept.kind !== "absent") return accept;
  return policy === "opt-out" ? { kind: "all" } : { kind: "kept" };
}

/** `wanted`, `kept` (an existing copy), or the first rule that says no. `unclear`: nothing may change there. */
export type MatchResult =
  | "wanted"
  | "kept"
  | "own"
  | "excluded"
  | "globs"
  | "selector"
  | "declined"
  | "unclear";

export type MatchingSource = {
  readonly namespace: string;
  readonly text: string;
  readonly to: NamespaceMatch;
};

export function matchOf(source: MatchingSource, target: TargetNamespace): MatchResult {
  if (source.namespace === target.name) return "own";
  if (target.excluded !== undefined) return "excluded";
  return uncovered(source.to, target.namespace) ?? acceptance(source.text, target.accept);
}

/** What a namespace's `accept` says of a source that names it. */
export function acceptance(source: string, accept: TargetNamespace["accept"]): MatchResult {
  switch (accept.kind) {
    case "all":
      return "wanted";
    case "kept":
      return "kept";
    case "none":
      return "declined";
    case "sources":
      return accept.globs.matches(source) ? "wanted" : "declined";
    case "problem":
      return "unclear";
  }
}

/** Why nothing of a copy may change there, or undefined: it may. */
export function frozenIn({ excluded, accept }: TargetNamespace): Reason | undefined {
  if (excluded !== undefined || accept.kind !== "problem") return excluded;
  return because("NamespaceInvalid", { problem: problemText(accept.problem) });
}

/** Whether a namespace accepts copies of `source`, as far as is known. */
export function accepts(accept: TargetNamespace["accept"], source: string): boolean {
  return acceptance(source, accept) === "wanted";
}

/** What of a match does not name this namespace: the one place where globs and selector meet. */
function uncovered(
  { globs, selector, any }: NamespaceMatch,
  { name, labels }: Namespace,
): "globs" | "selector" | undefined {
  if (any && globs !== undefined && selector !== undefined) {
    if (globs.excludes(name)) return "globs";
    return globs.includes(name) || selector.matches(labels) ? undefined : "selector";
  }
  if (globs !== undefined && !globs.matches(name)) return "globs";
  if (selector !== undefined && !selector.matches(labels)) return "selector";
  return undefined;
}

/** Whether this namespace is named, as `allow` requires. */
export function covers(match: NamespaceMatch, namespace: Namespace): boolean {
  return uncovered(match, namespace) === undefined;
}

// A list without positive entries has `*` appended.
const NOBODY = /^ *! *\* *,\*$/;

/** `!*` alone: on purpose it names no namespace. */
export function namesNobody({ globs, selector }: NamespaceMatch): boolean {
  return selector === undefined && globs !== undefined && NOBODY.test(globs.text);
}

/** The most steps that `covers` takes for a namespace whose name has so many characters. */
export function stepsOf({ globs, selector }: NamespaceMatch, length: number): number {
  return (globs?.steps(length) ?? 0) + (selector?.steps ?? 0) + 1;
}

/** Whether two namespaces that say this accept the same sources. */
export function sameAccept(a: Accept, b: Accept): boolean {
  if (a.kind !== b.kind) return false;
  return a.kind !== "sources" || (b.kind === "sources" && a.globs.text === b.globs.text);
}

export function placeIn(
  target: TargetNamespace,
  name: string,
): { namespace: string; name: string } {
  return { namespace: target.name, name };
}
