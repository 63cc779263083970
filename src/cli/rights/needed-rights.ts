// The rights that a controller with these settings needs. `check` asks for each of them and `rights` prints
// them as manifests. Tests compare manifests/ and the chart with this list.
import { listed } from "../../text/listed.ts";
import type { Config } from "../../controller/settings/config.ts";
import type { FlagName } from "../../controller/settings/flags.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { NAMESPACES, type Resource } from "../../../packages/kube/rest/resource.ts";
import { isNamespaceName } from "../../text/names.ts";

/** The flags from which the needed rights follow. */
export const RIGHTS_FLAGS: readonly FlagName[] = [
  "source-namespaces",
  "namespaces",
  "config-maps",
  "only-names",
  "source-list",
  "leader-elect",
  "lease-namespace",
  "lease-name",
  "dry-run",
];

export type NeededRight = {
  readonly verb: string;
  /** "" is the core group. */
  readonly group: string;
  readonly resource: string;
  /** Undefined for every namespace, or for a resource without namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for every name. */
  readonly names: readonly string[] | undefined;
  /** The purpose, in plain language. */
  readonly why: string;
  /** What the controller does without it. Undefined where it cannot work. */
  readonly without: string | undefined;
};

type Scoped = Pick<Config, "namespaces" | "sourceNamespaces" | "kinds" | "onlyNames" | "dryRun">;
type Reporting = Pick<
  Config,
  "leaderElect" | "leaseNamespace" | "leaseName" | "ownNamespace" | "sourceList"
>;
type Where = Pick<NeededRight, "namespace" | "names">;
type Verb = readonly [verb: string, why: string];

/** Why the ConfigMap with the source list is read. */
export const SOURCE_LIST = "the source list";

const EVERYWHERE: Where = { namespace: undefined, names: undefined };

const GET: Verb = ["get", "read before deleting, and to inspect conflicting objects"];
const CACHE: readonly Verb[] = [
  ["list", "the cache"],
  ["watch", "the cache"],
];
const READ = [GET, ...CACHE];
const CREATE: Verb = ["create", "new copies"];
const CHANGE: readonly Verb[] = [
  ["patch", "copies that change, pulling objects, adoption"],
  ["delete", "copies that are removed"],
];

export function neededRights(config: Scoped & Reporting): readonly NeededRight[] {
  const { namespaces: targets, sourceNamespaces, dryRun } = config;
  return [
    ...(targets ? inEach(config, targets) : inAll(config)),
    ...(targets && !dryRun ? reportRights(config, [...targets, ...sourceNamespaces]) : []),
    ...(config.leaderElect && !dryRun ? leaseRights(config) : []),
    ...listRights(config),
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
  return [...places].flatMap((namespace) => eventRights(namespace));
}

function inAll(config: Scoped): readonly NeededRight[] {
  return [
    ...objectRights(config, undefined, !config.dryRun),
    ...(config.dryRun ? [] : eventRights(undefined)),
    ...rights(NAMESPACES, READ, EVERYWHERE),
  ];
}

// Each namespace in a list has its own watch. The same is true for source namespaces that are literal
// names.
function inEach(config: Scoped, targets: readonly string[]): readonly NeededRight[] {
  const served = new Set(targets);
  const others = config.sourceNamespaces.filter(
    (name) => isNamespaceName(name) && !served.has(name),
  );
  const all = [...new Set([...served, ...others])];
  return [
    ...all.flatMap((namespace) => [
      ...objectRights(config, namespace, served.has(namespace) && !config.dryRun),
      ...(config.dryRun ? [] : eventRights(namespace)),
      ...rights(NAMESPACES, [GET], { namespace, names: [namespace] }),
    ]),
    // No Role can grant these: a list of Namespaces is in no namespace.
    ...rights(
      NAMESPACES,
      CACHE,
      { namespace: undefined, names: all },
      "each Namespace is read every 30 s",
    ),
  ];
}

// A create cannot be limited to a name: the request has no name when it is authorised.
function objectRights(
  { kinds, onlyNames: names }: Pick<Scoped, "kinds" | "onlyNames">,
  namespace: string | undefined,
  writes: boolean,
): readonly NeededRight[] {
  return kinds.flatMap((kind) => {
    const { resource } = KINDS[kind];
    return [
      ...rights(resource, READ, { namespace, names }),
      ...(writes ? rights(resource, [CREATE], { namespace, names: undefined }) : []),
      ...(writes ? rights(resource, CHANGE, { namespace, names }) : []),
    ];
  });
}

function rights(
  { group, plural: resource }: Pick<Resource, "group" | "plural">,
  verbs: readonly Verb[],
  where: Where,
  without?: string,
): readonly NeededRight[] {
  return verbs.map(([verb, why]) => ({ verb, group, resource, ...where, why, without }));
}

// Where a list of namespaces limits the rights, an administrator of these namespaces installs the
// controller, and may lack the right to Events.
function eventRights(namespace: string | undefined): readonly NeededRight[] {
  const event = {
    group: "events.k8s.io",
    resource: "events",
    namespace,
    names: undefined,
    without: namespace === undefined ? undefined : "no Events, only the log and the status page",
  };
  return [
    { verb: "create", ...event, why: "Events on sources, the source list and the Lease" },
    { verb: "patch", ...event, why: "update recurring Events" },
  ];
}

function listRights({
  ownNamespace: namespace,
  sourceList,
}: Pick<Config, "ownNamespace" | "sourceList">): readonly NeededRight[] {
  if (sourceList === undefined) return [];
  const verbs = READ.map(([verb]): Verb => [verb, SOURCE_LIST]);
  return rights(KINDS.ConfigMap.resource, verbs, { namespace, names: [sourceList] });
}

function leaseRights({
  leaseNamespace: namespace,
  leaseName,
}: Pick<Config, "leaseNamespace" | "leaseName">): readonly NeededRight[] {
  const lease = {
    group: "coordination.k8s.io",
    resource: "leases",
    namespace,
    why: "one writer among replicas",
    without: undefined,
  };
  return [
    { verb: "create", ...lease, names: undefined },
    { verb: "get", ...lease, names: [leaseName] },
    { verb: "update", ...lease, names: [leaseName] },
  ];
}

const MOST_NAMES_SHOWN = 5;

/** Close to what `kubectl auth can-i` takes, which asks the same. */
export function rightText({ verb, group, resource, namespace, names }: NeededRight): string {
  const what = `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
  const named =
    names === undefined ? what : `${what}/${listed(names, MOST_NAMES_SHOWN, { between: "," })}`;
  if (namespace !== undefined) return `${named} in ${namespace}`;
  return resource === "namespaces" ? named : `${named} in every namespace`;
}
