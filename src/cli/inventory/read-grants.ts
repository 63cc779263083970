// Reads Roles and bindings, with the user's own rights. What may not be read is reported, one line for each gap, and
// never counts as nobody.
import { mapAtOnce } from "../../inspect/requests/at-once.ts";
import { listKept } from "../../inspect/requests/list-kept.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { Resource } from "../../../packages/kube/rest/resource.ts";
import { listed } from "../../text/listed.ts";
import { aggregated, bindingOf, roleOf, type Binding, type Grant, type Role } from "./grants.ts";

export type Grants = {
  /** The bindings that let somebody read something. */
  readonly grants: readonly Grant[];
  /** Bindings whose role does not exist: a user who may create it gives it rights. */
  readonly dangling: readonly Binding[];
  /** What could not be read, one line each. */
  readonly unknown: readonly string[];
};

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const CLUSTER_ROLES: Resource = { ...RBAC, plural: "clusterroles", kind: "ClusterRole" };
const ROLES: Resource = { ...RBAC, plural: "roles", kind: "Role" };
const BINDINGS: Resource = { ...RBAC, plural: "rolebindings", kind: "RoleBinding" };
const CLUSTER_BINDINGS: Resource = {
  ...RBAC,
  plural: "clusterrolebindings",
  kind: "ClusterRoleBinding",
};
/** Namespaces that are read at a time. */
const AT_ONCE = 8;

const REFUSALS: Readonly<Partial<Record<ApiError["kind"], string>>> = {
  forbidden: "403 Forbidden",
  notFound: "404 Not Found: the API server serves no RBAC",
};

type Reading = { readonly client: ApiClient; readonly signal: AbortSignal };
/** The scopes of a resource that could not be read: undefined stands for the whole cluster. */
type Part<T> = {
  readonly items: readonly T[];
  readonly unread: readonly (string | undefined)[];
  /** Why not. */
  readonly why?: string;
};

/** `namespaces`: those that are read by themselves where the whole cluster may not be listed. */
export async function readGrants(
  client: ApiClient,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<Grants> {
  const reading = { client, signal };
  const [clusterRoles, clusterBindings, roles, bindings] = await Promise.all([
    whole(reading, CLUSTER_ROLES, roleOf),
    whole(reading, CLUSTER_BINDINGS, bindingOf),
    each(reading, ROLES, namespaces, roleOf),
    each(reading, BINDINGS, namespaces, bindingOf),
  ]);
  const roleBy = new Map(
    [...aggregated(clusterRoles.items), ...roles.items].map((role) => [keyOf(role), role]),
  );
  const isUnread = ({ namespace, role: { kind } }: Binding): boolean =>
    kind === "ClusterRole"
      ? clusterRoles.unread.length > 0
      : roles.unread.some((of) => of === undefined || of === namespace);
  const grants: Grant[] = [];
  const dangling: Binding[] = [];
  for (const binding of [...clusterBindings.items, ...bindings.items]) {
    const { role, namespace } = binding;
    const of = role.kind === "Role" ? namespace : undefined;
    const found = roleBy.get(keyOf({ namespace: of, name: role.name }));
    if (found === undefined && !isUnread(binding)) dangling.push(binding);
    if (found && found.rules.length > 0) grants.push({ ...binding, rules: found.rules });
  }
  const unknown = [
    ...gap(CLUSTER_ROLES, clusterRoles),
    ...gap(CLUSTER_BINDINGS, clusterBindings),
    ...gap(ROLES, roles),
    ...gap(BINDINGS, bindings),
  ];
  return { grants, dangling, unknown };
}

function keyOf({ namespace, name }: Pick<Role, "namespace" | "name">): string {
  return `${namespace ?? ""}/${name}`;
}

async function whole<T>(
  { client, signal }: Reading,
  resource: Resource,
  read: (raw: unknown) => T,
  namespace?: string,
): Promise<Part<T>> {
  const items = await listKept({ client, scope: { resource, namespace }, signal }, read);
  return items instanceof ApiError
    ? { items: [], unread: [namespace], why: REFUSALS[items.kind] ?? items.kind }
    : { items, unread: [] };
}

async function each<T>(
  reading: Reading,
  resource: Resource,
  namespaces: readonly string[],
  read: (raw: unknown) => T,
): Promise<Part<T>> {
  const all = await whole(reading, resource, read);
  if (all.unread.length === 0 || namespaces.length === 0) return all;
  const parts = await mapAtOnce(namespaces, AT_ONCE, (namespace) =>
    whole(reading, resource, read, namespace),
  );
  return {
    items: parts.flatMap(({ items }) => items),
    unread: parts.flatMap(({ unread }) => unread),
    ...(all.why !== undefined && { why: all.why }),
  };
}

function gap({ plural }: Resource, { unread, why }: Part<unknown>): readonly string[] {
  if (unread.length === 0) return [];
  const named = unread.filter((namespace) => namespace !== undefined);
  const where = named.length > 0 ? ` in ${listed(named)}` : "";
  return [`${plural} cannot be listed${where} (${why}): further readers are not known`];
}
