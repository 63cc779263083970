// Names of API resources and their paths. Sends no requests.
import { isRecord } from "../json.ts";

/** An API resource: group "apps", version "v1", plural "deployments". */
export type Resource = {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
};

const resource = (group: string, version: string, plural: string, kind: string): Resource => ({
  group,
  version,
  plural,
  kind,
});
export const SECRETS = resource("", "v1", "secrets", "Secret");
export const CONFIG_MAPS = resource("", "v1", "configmaps", "ConfigMap");
export const NAMESPACES = resource("", "v1", "namespaces", "Namespace");
export const PODS = resource("", "v1", "pods", "Pod");
export const DEPLOYMENTS = resource("apps", "v1", "deployments", "Deployment");
export const LEASES = resource("coordination.k8s.io", "v1", "leases", "Lease");
export const EVENTS = resource("events.k8s.io", "v1", "events", "Event");

/** For `accept` of one object: only its name and other metadata. */
export const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/** For `accept` of a list: only names and other metadata. */
export const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * The path of one object (`name` given) or of a collection, in one namespace or (without `namespace`)
 * across all of them. Cluster-scoped resources take no namespace.
 */
export function resourcePath(resource: Resource, namespace?: string, name?: string): string {
  const { group, version, plural } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `${root}${scope}/${plural}${object}`;
}

/** Includes the question mark. "" when nothing is set. */
export function queryText(
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return "";
  return `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

/** The common fields of API objects. The reader of a kind checks the others. */
export type KubeObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
};

/** Whether a parsed JSON value is a usable object: it has a name, a version and a UID. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = isRecord(value) ? value["metadata"] : undefined;
  return (
    isRecord(metadata) &&
    isFilled(metadata["name"]) &&
    isFilled(metadata["uid"]) &&
    isFilled(metadata["resourceVersion"])
  );
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

// Resource versions of one resource type are positive decimals that increase with every write. So the later of
// two is the longer one, or at equal length the greater in character order. Only for freshness. The API is
// never asked for a version that it did not name itself.

/** Negative when `a` is older than `b`, positive when newer. "" is older than any version. */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
