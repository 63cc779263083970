// Answers discovery requests: the version, and the groups and resources (separately and aggregated).
import type { JsonObject } from "../storage/object.ts";
import { groupVersion, namespaces } from "../kinds/resources.ts";
import type { ServedResource } from "../kinds/resources.ts";

/** The release of Kubernetes whose answers the sandbox gives. */
export const SANDBOX_RELEASE = "v1.37.2+sandbox";

const version: JsonObject = {
  major: "1",
  minor: "37",
  gitVersion: SANDBOX_RELEASE,
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: `${process.platform}/${process.arch}`,
};

type Rows = readonly ServedResource[];

function groupsOf(rows: Rows): readonly string[] {
  return [...new Set(rows.map((row) => row.group))].filter((group) => group !== "");
}

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The answer to a discovery path. Undefined for any other path. */
export function discover(path: string, aggregated: boolean, rows: Rows): JsonObject | undefined {
  const groups = groupsOf(rows);
  const words = path.split("/").filter((word) => word !== "");
  const [root, first, second, ...rest] = words;
  if (rest.length > 0) return undefined;
  if (root === "version" && first === undefined) return version;
  if (root === "api" && second === undefined) {
    if (first === undefined) return aggregated ? aggregate([""], rows) : coreVersions();
    return resourceList("", first, rows);
  }
  if (root === "apis") {
    if (first === undefined) return aggregated ? aggregate(groups, rows) : groupList(rows);
    if (!groups.includes(first)) return undefined;
    return second === undefined ? groupEntry(first, true, rows) : resourceList(first, second, rows);
  }
  return undefined;
}

function coreVersions(): JsonObject {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

function groupList(rows: Rows): JsonObject {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groupsOf(rows).map((group) => groupEntry(group, false, rows)),
  };
}

function groupEntry(group: string, alone: boolean, rows: Rows): JsonObject {
  const versions = versionsOf(group, rows).map((each) => ({
    groupVersion: `${group}/${each}`,
    version: each,
  }));
  return {
    ...(alone ? { kind: "APIGroup", apiVersion: "v1" } : {}),
    name: group,
    versions,
    ...(versions[0] && { preferredVersion: versions[0] }),
  };
}

/** The preferred one first: stable before beta before alpha, and the higher number before the lower. */
function versionsOf(group: string, rows: Rows): readonly string[] {
  const found = new Set(rows.filter((row) => row.group === group).map((row) => row.version));
  return [...found].toSorted((a, b) => comparedVersions(rankOf(b), rankOf(a)));
}

function rankOf(name: string): readonly number[] {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name) ?? [];
  if (major === undefined) return [0, 0, 0];
  const maturity = stage === undefined ? 3 : stage === "beta" ? 2 : 1;
  return [maturity, Number(major), Number(minor ?? 0)];
}

function comparedVersions(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function resourceList(group: string, wanted: string, all: Rows): JsonObject | undefined {
  const rows = all.filter((row) => row.group === group && row.version === wanted);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: groupVersion(row),
    resources: rows.flatMap((each) => [entry(each), ...subresources(each)]),
  };
}

function entry(row: ServedResource): JsonObject {
  return {
    name: row.plural,
    singularName: row.singular,
    namespaced: row.namespaced,
    kind: row.kind,
    ...capabilities(row),
  };
}

/** What both forms of an entry say in the same words. */
function capabilities(row: ServedResource): JsonObject {
  const { shortNames, categories = [] } = row;
  return {
    verbs: row === namespaces ? verbs.filter((verb) => verb !== "deletecollection") : verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
}

const SUBRESOURCE_VERBS = ["get", "patch", "update"];
const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };

function subresources(row: ServedResource): JsonObject[] {
  const sub = (name: string, subVerbs: readonly string[] = SUBRESOURCE_VERBS): JsonObject => ({
    name: `${row.plural}/${name}`,
    singularName: "",
    namespaced: row.namespaced,
    kind: row.kind,
    verbs: subVerbs,
  });
  if (row === namespaces) return [sub("finalize", ["update"]), sub("status")];
  return [
    ...(row.statusSubresource ? [sub("status")] : []),
    ...(row.scale ? [{ ...sub("scale"), ...SCALE }] : []),
  ];
}

/** In the aggregated form: scale alone, which kubectl looks for. */
function aggregatedScale(row: ServedResource): JsonObject {
  const scale = { subresource: "scale", responseKind: SCALE, verbs: SUBRESOURCE_VERBS };
  return row.scale ? { subresources: [scale] } : {};
}

function aggregate(names: readonly string[], rows: Rows): JsonObject {
  const items = names.map((group) => ({
    metadata: group === "" ? {} : { name: group },
    versions: versionsOf(group, rows).map((each) => ({
      version: each,
      freshness: "Current",
      resources: rows
        .filter((row) => row.group === group && row.version === each)
        .map(aggregatedEntry),
    })),
  }));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items,
  };
}

function aggregatedEntry(row: ServedResource): JsonObject {
  return {
    resource: row.plural,
    responseKind: { group: row.group, version: row.version, kind: row.kind },
    scope: row.namespaced ? "Namespaced" : "Cluster",
    singularResource: row.singular,
    ...capabilities(row),
    ...aggregatedScale(row),
  };
}

/** Whether a path belongs to a group that is served, so that its 404 is a Status. */
export function isServed(path: string, rows: Rows): boolean {
  const [, root, group] = path.split("/");
  return root === "api" || (root === "apis" && groupsOf(rows).includes(group ?? ""));
}
