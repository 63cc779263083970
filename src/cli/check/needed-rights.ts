// The rights that a controller with these settings needs, each as one question to the API server. Tests
// compare manifests/ and the chart with this list.
import type { Config } from "../../controller/settings/config.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { isNamespaceName } from "../../text/names.ts";

export type NeededRight = {
  readonly verb: string;
  /** "" is the core group. */
  readonly group: string;
  readonly resource: string;
  /** Undefined for every namespace, or for a resource without namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for every name. */
  readonly name: string | undefined;
  /** The purpose, in plain language. */
  readonly why: string;
};

type Scoped = Pick<Config, "namespaces" | "sourceNamespaces" | "kinds">;
type Reporting = Pick<
  Config,
  "leaderElect" | "leaseNamespace" | "leaseName" | "ownNamespace" | "sourceList"
>;
type Where = Pick<NeededRight, "namespace" | "name">;

const EVERYWHERE: Where = { namespace: undefined, name: undefined };

const READ: readonly (readonly [verb: string, why: string])[] = [
  ["get", "read before deleting, and to inspect conflicting objects"],
  ["list", "the cache"],
  ["watch", "the cache"],
];
const WRITE: typeof READ = [
  ["create", "new copies"],
  ["patch", "copies that change, pulling objects, adoption"],
  ["delete", "copies that end"],
];

export function neededRights(config: Scoped & Reporting): readonly NeededRight[] {
  const { namespaces: targets, kinds } = config;
  const resources = kinds.map((kind) => KINDS[kind].resource.plural);
  const rights = targets ? inEach(resources, targets, config.sourceNamespaces) : inAll(resources);
  return [
    ...rights,
    ...(targets ? reportRights(config, [...targets, ...config.sourceNamespaces]) : []),
    ...listRights(config),
    ...(config.leaderElect ? leaseRights(config) : []),
  ];
}

// Events on the Lease and on the source list, where the rights in each namespace do not cover them.
function reportRights(
  { leaderElect, leaseNamespace, ownNamespace, sourceList }: Reporting,
  served: readonly string[],
): readonly NeededRight[] {
  const places = new Set([
    ...(leaderElect ? [leaseNamespace] : []),
    ...(sourceList === undefined ? [] : [ownNamespace]),
  ]);
  for (const namespace of served) places.delete(namespace);
  return [...places].flatMap((namespace) => eventRights({ namespace, name: undefined }));
}

function inAll(resources: readonly string[]): readonly NeededRight[] {
  return [
    ...resources.flatMap((each) => objectRights(each, [...READ, ...WRITE], EVERYWHERE)),
    ...objectRights("namespaces", READ, EVERYWHERE),
    ...eventRights(EVERYWHERE),
  ];
}

// Each namespace in a list has its own watch. The same is true for source namespaces that are literal
// names.
function inEach(
  resources: readonly string[],
  targets: readonly string[],
  sources: readonly string[],
): readonly NeededRight[] {
  const served = new Set(targets);
  const others = sources.filter((name) => isNamespaceName(name) && !served.has(name));
  return [...served, ...others].flatMap((namespace) => [
    ...resources.flatMap((each) =>
      objectRights(each, served.has(namespace) ? [...READ, ...WRITE] : READ, {
        namespace,
        name: undefined,
      }),
    ),
    ...objectRights("namespaces", READ, { namespace: undefined, name: namespace }),
    ...eventRights({ namespace, name: undefined }),
  ]);
}

function objectRights(resource: string, verbs: typeof READ, where: Where): readonly NeededRight[] {
  return verbs.map(([verb, why]) => ({ verb, group: "", resource, ...where, why }));
}

function eventRights(where: Where): readonly NeededRight[] {
  const event = { group: "events.k8s.io", resource: "events", ...where };
  return [
    { verb: "create", ...event, why: "Events on sources, the source list and the Lease" },
    { verb: "patch", ...event, why: "update recurring Events" },
  ];
}

function listRights({
  ownNamespace: namespace,
  sourceList: name,
}: Pick<Config, "ownNamespace" | "sourceList">): readonly NeededRight[] {
  if (name === undefined) return [];
  return READ.map(([verb]) => {
    return { verb, group: "", resource: "configmaps", namespace, name, why: "the source list" };
  });
}

function leaseRights({
  leaseNamespace,
  leaseName,
}: Pick<Config, "leaseNamespace" | "leaseName">): readonly NeededRight[] {
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: leaseNamespace };
  const why = "one writer among replicas";
  return [
    { verb: "create", ...lease, name: undefined, why },
    { verb: "get", ...lease, name: leaseName, why },
    { verb: "update", ...lease, name: leaseName, why },
  ];
}

/** As `kubectl auth can-i` takes it, which asks the same. */
export function rightText({ verb, group, resource, namespace, name }: NeededRight): string {
  const what = `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  if (namespace !== undefined) return `${verb} ${what} in ${namespace}`;
  return name === undefined && resource !== "namespaces"
    ? `${verb} ${what} in every namespace`
    : `${verb} ${what}`;
}
