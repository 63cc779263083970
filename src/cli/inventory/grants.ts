// Who may read an object by RBAC, as the API server's authorizer decides: get, list or watch on it. Pure. A list or
// watch of one name by a field selector is authorised with that name, so it counts as a reading of it.
import { stringOf } from "../../controller/model/unstructured.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import { KINDS, OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import type { Ref } from "../../text/names.ts";

export type ReadVerb = "get" | "list" | "watch";
const READ_VERBS: readonly ReadVerb[] = ["get", "list", "watch"];

export type Subject = {
  readonly kind: "User" | "Group" | "ServiceAccount";
  /** Only of a ServiceAccount. */
  readonly namespace?: string;
  readonly name: string;
};

/** A rule as far as it lets its subjects read objects that are copied. */
export type ReadRule = {
  readonly verbs: readonly ReadVerb[];
  readonly kinds: readonly ObjectKind[];
  /** undefined: all names. */
  readonly names: ReadonlySet<string> | undefined;
};

export type Role = {
  /** undefined for a ClusterRole. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly rules: readonly ReadRule[];
  /** Selectors of `aggregationRule`. */
  readonly aggregates: readonly unknown[];
};

export type Binding = {
  /** undefined for a ClusterRoleBinding. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly role: { readonly kind: "Role" | "ClusterRole"; readonly name: string };
  readonly subjects: readonly Subject[];
};

/** A binding with the rules of its role. */
export type Grant = Binding & { readonly rules: readonly ReadRule[] };

export function roleOf(raw: unknown): Role {
  const { metadata, rules, aggregationRule } = fieldsIn(raw);
  const { namespace, name, labels } = fieldsIn(metadata);
  const selectors = isRecord(aggregationRule) ? aggregationRule["clusterRoleSelectors"] : [];
  return {
    namespace: typeof namespace === "string" ? namespace : undefined,
    name: stringOf(name),
    labels: fieldsIn(labels),
    rules: listOf(rules).flatMap(readRule),
    aggregates: listOf(selectors),
  };
}

function readRule(raw: unknown): readonly ReadRule[] {
  if (!isRecord(raw)) return [];
  const [verbs, groups, resources, names] = [
    "verbs",
    "apiGroups",
    "resources",
    "resourceNames",
  ].map((field) => listOf(raw[field]).filter((each) => typeof each === "string"));
  const grants = (list: readonly string[] | undefined, word: string): boolean =>
    list?.some((each) => each === word || each === "*") === true;
  const read = READ_VERBS.filter((verb) => grants(verbs, verb));
  const kinds = OBJECT_KINDS.filter((kind) => {
    const { group, plural } = KINDS[kind].resource;
    return grants(groups, group) && grants(resources, plural);
  });
  if (read.length === 0 || kinds.length === 0) return [];
  // An empty list means every name.
  return [{ verbs: read, kinds, names: names?.length ? new Set(names) : undefined }];
}

export function bindingOf(raw: unknown): Binding {
  const { metadata, roleRef, subjects } = fieldsIn(raw);
  const { namespace, name } = fieldsIn(metadata);
  const role = fieldsIn(roleRef);
  const home = typeof namespace === "string" ? namespace : undefined;
  return {
    namespace: home,
    name: stringOf(name),
    role: { kind: role["kind"] === "Role" ? "Role" : "ClusterRole", name: stringOf(role["name"]) },
    subjects: unique(
      listOf(subjects).flatMap((subject) => subjectOf(subject, home)),
      ({ kind, namespace, name: of }) => JSON.stringify([kind, namespace, of]),
    ),
  };
}

/** A user with the name of a service account is that account. */
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

function subjectOf(raw: unknown, home: string | undefined): readonly Subject[] {
  const { kind, name, namespace } = fieldsIn(raw);
  const text = stringOf(name);
  if (kind === "Group") return [{ kind, name: text }];
  if (kind === "ServiceAccount") {
    const of = stringOf(namespace) || home;
    return of === undefined ? [] : [{ kind, namespace: of, name: text }];
  }
  if (kind !== "User") return [];
  const [, of, account] = ACCOUNT.exec(text) ?? [];
  return of !== undefined && account !== undefined
    ? [{ kind: "ServiceAccount", namespace: of, name: account }]
    : [{ kind, name: text }];
}

/**
 * The rules of each ClusterRole with those that it aggregates. The API server's controller copies them into the role,
 * after a moment, so they count before they are there.
 */
export function aggregated(roles: readonly Role[]): readonly Role[] {
  const direct = new Map(
    roles
      .filter(({ aggregates }) => aggregates.length > 0)
      .map((role) => [role, roles.filter((other) => isAggregated(role, other))]),
  );
  const rulesOf = (role: Role): readonly ReadRule[] => {
    const reached = new Set([role]);
    // A set also visits what is added to it meanwhile.
    for (const each of reached) for (const other of direct.get(each) ?? []) reached.add(other);
    // An aggregated rule is there twice as soon as it was copied.
    return unique(
      [...reached].flatMap(({ rules }) => rules),
      ({ verbs, kinds, names }) => JSON.stringify([verbs, kinds, names && [...names]]),
    );
  };
  return roles.map((role) => (direct.has(role) ? { ...role, rules: rulesOf(role) } : role));
}

function isAggregated({ aggregates }: Role, { labels }: Role): boolean {
  return aggregates.some((selector) => selects(selector, labels));
}

function unique<T>(all: readonly T[], keyOf: (each: T) => string): readonly T[] {
  return [...new Map(all.map((each) => [keyOf(each), each])).values()];
}

/** A metav1.LabelSelector. What is malformed selects nothing. */
function selects(selector: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(selector)) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (!isRecord(matchLabels)) return false;
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return equal && listOf(matchExpressions).every((each) => holds(each, labels));
}

function holds(expression: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(expression)) return false;
  const has = Object.hasOwn(labels, stringOf(expression["key"]));
  const among = listOf(expression["values"]).includes(labels[stringOf(expression["key"])]);
  switch (expression["operator"]) {
    case "In":
      return has && among;
    case "NotIn":
      return !has || !among;
    case "Exists":
      return has;
    case "DoesNotExist":
      return !has;
    default:
      return false;
  }
}

/** What a binding lets its subjects do at a place. Empty: nothing. */
export function verbsAt(
  { namespace, rules }: Grant,
  kind: ObjectKind,
  place: Ref,
): readonly ReadVerb[] {
  if (namespace !== undefined && namespace !== place.namespace) return [];
  const matching = rules.filter(
    ({ kinds, names }) => kinds.includes(kind) && names?.has(place.name) !== false,
  );
  return READ_VERBS.filter((verb) => matching.some(({ verbs }) => verbs.includes(verb)));
}

/** What is true of these subjects whatever RBAC says, or that they are everyone. */
export function noteOn({ kind, name }: Subject): string | undefined {
  if (kind === "ServiceAccount") return undefined;
  if (kind === "User") return name === "system:anonymous" ? ANYONE : undefined;
  const [, namespace] = /^system:serviceaccounts:(.+)$/.exec(name) ?? [];
  if (namespace !== undefined) return `every service account of ${namespace}`;
  return GROUPS[name];
}

const ANYONE = "everyone, even without logging in";
const GROUPS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  "system:masters": "reads everything, whatever RBAC says",
  "system:authenticated": "everyone who is logged in",
  "system:unauthenticated": ANYONE,
  "system:serviceaccounts": "every service account",
});

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
