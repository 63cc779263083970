// What a move needs to know of a cluster, read once, in pages: nothing is watched. What the API server
// does not show is named, so that nothing is concluded from its absence.
import { fields } from "../../core/oldtools/old-objects.ts";
import type { OldTool } from "../../core/oldtools/old-tool.ts";
import { listAll } from "../../kube/cache/list.ts";
import type { ListScope } from "../../kube/cache/list-scope.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  SECRETS,
  type KubeObject,
  type Resource,
} from "../../kube/rest/resource.ts";

const CORE = { group: "", version: "v1" } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
/** What a tool may replicate besides Secrets, for the report. */
const BESIDES: readonly Resource[] = [
  CONFIG_MAPS,
  { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount" },
  { ...RBAC, plural: "roles", kind: "Role" },
  { ...RBAC, plural: "rolebindings", kind: "RoleBinding" },
];
const CLUSTER_SECRETS: Resource = {
  group: "clustersecret.io",
  version: "v1",
  plural: "clustersecrets",
  kind: "ClusterSecret",
};
const PODS: Resource = { ...CORE, plural: "pods", kind: "Pod" };
const APPS = { group: "apps", version: "v1" } as const;
const DEPLOYMENTS: Resource = { ...APPS, plural: "deployments", kind: "Deployment" };
// A Helm release is nobody's source, and there are many of them.
const NO_RELEASES = "type!=helm.sh/release.v1";

export type OldClusterObjects = {
  readonly objects: readonly unknown[];
  /** What could not be looked at, in plain words. */
  readonly unread: readonly string[];
};

type Reading = {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  /** Told how many objects came. */
  readonly onRead: (count: number) => void;
};

export async function readOldObjects(tool: OldTool, reading: Reading): Promise<OldClusterObjects> {
  const unread: string[] = [];
  const namespaces = await listed({ resource: NAMESPACES }, reading);
  const read: (readonly unknown[])[] = [namespaces, await secretsOf(namespaces, reading, unread)];
  for (const resource of BESIDES) {
    // Told are counts: without the right to look there are none to tell.
    const found = await orRefused({ resource }, reading);
    if (found) read.push(found);
    else unread.push(`${resource.plural}: may not be listed, so that none are counted`);
  }
  if (tool.hasClusterSecrets) read.push(await listed({ resource: CLUSTER_SECRETS }, reading));
  return { objects: read.flat(), unread };
}

// In each namespace alone where all of them may not be listed at once.
async function secretsOf(
  namespaces: readonly unknown[],
  reading: Reading,
  unread: string[],
): Promise<readonly unknown[]> {
  const scope = { resource: SECRETS, fieldSelector: NO_RELEASES };
  const all = await orRefused(scope, reading);
  if (all) return all;
  const found: (readonly unknown[])[] = [];
  for (const raw of namespaces) {
    const namespace = String(fields(fields(raw)["metadata"])["name"]);
    const some = await orRefused({ ...scope, namespace }, reading);
    if (some) found.push(some);
    else unread.push(`Secrets in ${namespace}: may not be listed`);
  }
  return found.flat();
}

/** undefined: forbidden. */
async function orRefused(
  scope: ListScope,
  reading: Reading,
): Promise<readonly KubeObject[] | undefined> {
  try {
    return await listed(scope, reading);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "forbidden") return undefined;
    // Not every API server has every kind: the sandbox has few.
    if (error instanceof ApiError && error.kind === "notFound") return [];
    throw error;
  }
}

async function listed(
  scope: ListScope,
  { client, signal, onRead }: Reading,
): Promise<readonly KubeObject[]> {
  let objects: KubeObject[] = [];
  await listAll({
    client,
    scope,
    signal,
    onPage: (items) => {
      // A list does not say of its items what they are.
      for (const item of items) objects.push({ ...item, kind: scope.resource.kind });
      onRead(items.length);
    },
    onRestart: () => void (objects = []),
  });
  return objects;
}

/** What the containers of a tool are told. */
export type OldCommandLine = {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** Of its Deployments, which stay when they are scaled to zero: their containers' words and environment. */
export async function oldCommandLine(
  { images }: OldTool,
  reading: Reading,
): Promise<OldCommandLine | undefined> {
  return commandLineIn((await orRefused({ resource: DEPLOYMENTS }, reading)) ?? [], images);
}

/** Of the first of the Deployments that runs one of `images`. */
export function commandLineIn(
  deployments: readonly unknown[],
  images: RegExp,
): OldCommandLine | undefined {
  for (const raw of deployments) {
    const found = commandLineOf(raw, images);
    if (found) return found;
  }
  return undefined;
}

function commandLineOf(raw: unknown, images: RegExp): OldCommandLine | undefined {
  const spec = fields(fields(fields(fields(raw)["spec"])["template"])["spec"]);
  const container = containersOf(spec).find(({ image }) => images.test(String(image)));
  if (!container) return undefined;
  const environment = listOf(container["env"])
    .map(fields)
    .flatMap(({ name, value }) =>
      typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [],
    );
  const words = [...listOf(container["command"]), ...listOf(container["args"])];
  return {
    words: words.filter((word) => typeof word === "string"),
    environment: Object.fromEntries(environment),
  };
}

/** A Pod that runs the tool, "NAMESPACE/NAME"; undefined: none does. Fails where Pods may not be listed. */
export async function oldToolPod(
  { images }: OldTool,
  reading: Reading,
): Promise<string | undefined> {
  const fieldSelector = "status.phase!=Succeeded,status.phase!=Failed";
  let pods: readonly KubeObject[];
  try {
    pods = await listed({ resource: PODS, fieldSelector }, reading);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "notFound") return undefined;
    throw error;
  }
  const found = pods.find(({ spec }) =>
    containersOf(fields(spec)).some(({ image }) => images.test(String(image))),
  );
  return found && `${found.metadata.namespace ?? ""}/${found.metadata.name}`;
}

type Fields = Readonly<Record<string, unknown>>;

function containersOf(spec: Fields): readonly Fields[] {
  return [...listOf(spec["initContainers"]), ...listOf(spec["containers"])].map(fields);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
