// Builds a cluster from files: Namespaces, Secrets and ConfigMaps as an API server would store them in an
// empty cluster. Promises: an object without a UID gets one derived from its place, so the same files give
// the same plan. A namespace that only objects mention exists, without labels. Objects that take no part
// are counted by kind. An object that an API server would refuse is a UsageError with file and line.
import { listed } from "../../text/listed.ts";
import { UsageError, type Config } from "../../controller/settings/config.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import type { Ref } from "../../text/names.ts";
import { placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { namesNotReadOf, type NamesNotRead } from "./names-not-read.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import type { FileObject } from "../files/file-objects.ts";
import type { ReadCluster } from "./read-cluster.ts";
import { ALL_RIGHTS } from "./reader-rights.ts";
import { NO_LIST, clusterList, type ClusterList } from "./cluster-list.ts";
import { ClusterBuilder } from "./cluster-builder.ts";
import { contentFault, identity, namespaceLabels, placedOf, type Placed } from "./placed-object.ts";

export type FileCluster = ReadCluster & {
  /** How many there were of each kind that takes no part. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Namespaces that objects name and no file describes. */
  readonly implied: readonly string[];
  /** Objects that an API server would not take, a line each. */
  readonly unread: readonly string[];
  readonly notRead: NamesNotRead;
};

/** `namespace`: of objects that name none. */
export function readFiles(
  objects: readonly FileObject[],
  {
    settings,
    config,
    flags,
    namespace,
  }: {
    readonly settings: PlannerSettings;
    readonly config: Config;
    readonly flags: Pick<KubectlFlags, "selector">;
    readonly namespace: string | undefined;
  },
): FileCluster {
  const { kinds } = config;
  const { selector } = flags;
  // The files are in memory already, so their data are not counted twice.
  const dataCacheBytes = Number.POSITIVE_INFINITY;
  const builder = new ClusterBuilder({
    settings,
    kinds,
    selector,
    dataCacheBytes,
    withShapes: true,
  });
  const skipped = new Map<string, number>();
  const placed = new Map<string, Placed>();
  const origins = new Map<string, string>();
  const unread: string[] = [];
  const twice: string[] = [];
  for (const one of objects) {
    const { raw, where } = one;
    const fault = faultOf(one, namespace);
    if (fault !== undefined) {
      unread.push(fault);
      continue;
    }
    const read = placedOf(raw, where, namespace);
    if (!read || !(takesPart(read, config) || isList(read, config))) {
      const kind = String(raw["kind"]);
      skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
      continue;
    }
    const refused = contentFault(read, where);
    if (refused !== undefined) {
      if (!one.found) throw new UsageError(refused);
      unread.push(refused);
      continue;
    }
    const place = keyOf(read);
    const first = origins.get(place);
    if (first !== undefined) {
      if (isSameNamespace(read, placed.get(place))) continue;
      twice.push(`${where}: ${read.kind} ${textOf(read.ref)} is there twice; first at ${first}`);
      continue;
    }
    origins.set(place, where);
    placed.set(place, read);
  }
  if (twice.length > 0) throw new UsageError(twiceText(twice));
  builder.list = listIn(placed, config, settings);
  const implied = take([...placed.values()], builder, config);
  const objectsOf = (kind: ObjectKind): readonly unknown[] =>
    [...placed.values()].filter((each) => each.kind === kind).map(({ object }) => object);
  return {
    builder,
    clusterStates: builder.states(),
    unknown: [],
    rights: ALL_RIGHTS,
    skipped,
    implied,
    unread,
    notRead: namesNotReadOf(kinds, objectsOf, settings),
    readLive: (kind, ref) => Promise.resolve(placed.get(keyOf({ kind, ref }))?.object),
  };
}

/** A folder for each application often contains the Namespace as well. */
function isSameNamespace(one: Placed, other: Placed | undefined): boolean {
  const textOfMetadata = ({ object }: Placed): string => {
    const { labels, annotations } = isRecord(object["metadata"]) ? object["metadata"] : {};
    return JSON.stringify([labels, annotations]);
  };
  return (
    one.kind === "Namespace" && other !== undefined && textOfMetadata(one) === textOfMetadata(other)
  );
}

const MOST_NAMED = 10;

function twiceText(twice: readonly string[]): string {
  if (twice.length === 1) return twice[0] ?? "";
  const named = listed(twice, MOST_NAMED, { between: "; " });
  return `${named}; files of several clusters or layers are planned one cluster at a time`;
}

/** What is wrong with an object of several places. */
export const SEVERAL =
  "is deployed more than once with different names or namespaces: use what one overlay renders";

/**
 * Why an API server would refuse an object of a kind that takes part. Undefined when it would accept it.
 * Throws the reason as a UsageError unless the file was found in a folder.
 */
export function faultOf(
  { raw, where, found, place }: FileObject,
  namespace: string | undefined,
): string | undefined {
  try {
    const read = placedOf(raw, where, place === "several" ? "several" : namespace);
    if (place === "several" && read && read.kind !== "Namespace")
      throw new UsageError(`${where}: ${read.kind} ${read.ref.name} ${SEVERAL}`);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError && found) return error.message;
    throw error;
  }
}

/** Answers with the namespaces that only objects name. */
function take(all: readonly Placed[], builder: ClusterBuilder, config: Config): readonly string[] {
  const named = new Set<string>();
  for (const each of all) {
    const { kind, ref, object } = each;
    if (kind === "Namespace") builder.addNamespace(object);
    else if (takesPart(each, config)) {
      builder.addObject(kind, object);
      named.add(ref.namespace);
    }
  }
  const implied = [...named].filter((name) => !builder.namespaces.has(name)).toSorted();
  for (const name of implied) builder.addNamespace(impliedNamespace(name));
  return implied;
}

function keyOf({ kind, ref }: Pick<Placed, "kind" | "ref">): string {
  return kind === "Namespace" ? `Namespace ${ref.name}` : placeKey(kind, ref);
}

function takesPart({ kind }: Placed, { kinds }: Config): boolean {
  return kind === "Namespace" || kinds.includes(kind);
}

/** The source list, which is read whatever kinds take part. */
function isList(placed: Placed, { sourceList: name, ownNamespace: namespace }: Config): boolean {
  return name !== undefined && keyOf(placed) === placeKey("ConfigMap", { namespace, name });
}

function listIn(
  placed: ReadonlyMap<string, Placed>,
  config: Config,
  { onlyNames }: PlannerSettings,
): ClusterList {
  const { sourceList, ownNamespace, kinds } = config;
  if (sourceList === undefined) return NO_LIST;
  const ref = { namespace: ownNamespace, name: sourceList };
  const list = placed.get(placeKey("ConfigMap", ref));
  return clusterList(list?.object, { list: ref, kinds, onlyNames });
}

function impliedNamespace(name: string): Placed["object"] {
  const labels = namespaceLabels(name);
  return { metadata: { name, labels, ...identity({ namespace: "", name }) } };
}

function textOf({ namespace, name }: Ref): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
