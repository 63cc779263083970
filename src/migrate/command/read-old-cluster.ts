// Reads what a move needs from a cluster, once and in pages. It does not watch. What the API server does
// not show is reported, so nothing is concluded from its absence.
import { fields, pluralOf, type OldResource } from "../oldtools/old-objects.ts";
import { movesKind, type OldTool } from "../oldtools/old-tool.ts";
import { listAll } from "../../../packages/kube/cache/list.ts";
import type { ListScope } from "../../../packages/kube/cache/list-scope.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { KINDS, OBJECT_KINDS } from "../../controller/model/kinds.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  type KubeObject,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";

const CORE = { group: "", version: "v1" } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
/** Kinds that a tool may replicate and that may not move, for the report. */
const BESIDES: readonly Resource[] = [
  CONFIG_MAPS,
  { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount" },
  { ...RBAC, plural: "roles", kind: "Role" },
  { ...RBAC, plural: "rolebindings", kind: "RoleBinding" },
];
/** The kinds that can move, without the objects that are never sources. */
const MOVING: readonly ListScope[] = OBJECT_KINDS.map((kind) => {
  const { resource, fieldSelector } = KINDS[kind];
  return { resource, fieldSelector };
});

export type OldClusterObjects = {
  readonly objects: readonly unknown[];
  /** What could not be read, in plain language. */
  readonly unread: readonly string[];
};

export type Reading = {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  /** Called with the number of objects that were read. */
  readonly onRead: (count: number) => void;
};

export async function readOldObjects(tool: OldTool, reading: Reading): Promise<OldClusterObjects> {
  const unread: string[] = [];
  const namespaces = await allListed({ resource: NAMESPACES }, reading);
  const read: (readonly unknown[])[] = [namespaces];
  for (const scope of MOVING) {
    if (movesKind(tool, scope.resource.kind))
      read.push(await everywhere(scope, namespaces, reading, unread));
  }
  for (const resource of BESIDES) {
    if (movesKind(tool, resource.kind)) continue;
    // Only counts are reported. They need the right to list.
    const found = await orRefused({ resource }, reading);
    if (found) read.push(found);
    else unread.push(`${resource.plural}: may not be listed, so that none are counted`);
  }
  const resources = [...tool.resources, ...(tool.traces ?? [])];
  const own = await readCustoms(resources, reading);
  return { objects: [...read.flat(), ...own.objects], unread: [...unread, ...own.unread] };
}

/** The objects of the first version of each resource that the API server serves. */
export async function readCustoms(
  resources: readonly OldResource[],
  reading: Reading,
): Promise<OldClusterObjects> {
  const objects: unknown[] = [];
  const unread: string[] = [];
  for (const { group, versions, kind } of resources) {
    const plural = pluralOf({ kind });
    for (const version of versions) {
      const found = await listedOr({ resource: { group, version, plural, kind } }, reading);
      if (found === "notFound") continue;
      if (found === "forbidden") unread.push(`${plural}.${group}: may not be listed`);
      // The items of a list have no apiVersion.
      else for (const one of found) objects.push({ ...one, apiVersion: `${group}/${version}` });
      break;
    }
  }
  return { objects, unread };
}

// Reads each namespace separately when objects may not be listed in all of them.
async function everywhere(
  scope: ListScope,
  namespaces: readonly unknown[],
  reading: Reading,
  unread: string[],
): Promise<readonly unknown[]> {
  const all = await orRefused(scope, reading);
  if (all) return all;
  const found: (readonly unknown[])[] = [];
  for (const raw of namespaces) {
    const namespace = String(fields(fields(raw)["metadata"])["name"]);
    const some = await orRefused({ ...scope, namespace }, reading);
    if (some) found.push(some);
    else unread.push(`${scope.resource.kind}s in ${namespace}: may not be listed`);
  }
  return found.flat();
}

/** Undefined when they may not be listed. Not every API server has every kind: the sandbox has few. */
export async function orRefused(
  scope: ListScope,
  reading: Reading,
): Promise<readonly KubeObject[] | undefined> {
  const found = await listedOr(scope, reading);
  if (found === "notFound") return [];
  return found === "forbidden" ? undefined : found;
}

async function listedOr(
  scope: ListScope,
  reading: Reading,
): Promise<readonly KubeObject[] | "forbidden" | "notFound"> {
  try {
    return await allListed(scope, reading);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === "forbidden" || error.kind === "notFound") return error.kind;
    throw error;
  }
}

async function allListed(
  scope: ListScope,
  { client, signal, onRead }: Reading,
): Promise<readonly KubeObject[]> {
  let objects: KubeObject[] = [];
  await listAll({
    client,
    scope,
    signal,
    onPage: (items) => {
      // The items of a list have no kind.
      for (const item of items) objects.push({ ...item, kind: scope.resource.kind });
      onRead(items.length);
    },
    onRestart: () => void (objects = []),
  });
  return objects;
}
