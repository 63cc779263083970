// Builds a cluster from files: Namespaces, Secrets and ConfigMaps as an API server would store them in an
// empty cluster. Promises: an object without a UID gets one derived from its place, so the same files give
// the same plan. A namespace that only objects mention exists, without labels. Objects that take no part
// are counted by kind. An object that an API server would refuse is a UsageError with file and line.
import { listed } from "../../text/listed.ts";
import { UsageError, type Config } from "../../controller/settings/config.ts";
import { isRecord } from "../../kube/json.ts";
import { isNamespaceName, isSecretName, refText, type Ref } from "../../text/names.ts";
import { KINDS, OBJECT_KINDS, placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { NAMESPACES } from "../../kube/rest/resource.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import { isObjectOf, type FileObject } from "../files/file-objects.ts";
import type { ReadCluster } from "./read-cluster.ts";
import { ALL_RIGHTS } from "./reader-rights.ts";
import { NO_LIST, clusterList, type ClusterList } from "./cluster-list.ts";
import { ClusterBuilder } from "./cluster-builder.ts";

export type FileCluster = ReadCluster & {
  /** How many there were of each kind that takes no part. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Namespaces that objects name and no file describes. */
  readonly implied: readonly string[];
  /** Objects that an API server would not take, a line each. */
  readonly unread: readonly string[];
};

type Fields = Readonly<Record<string, unknown>>;

type Placed = {
  readonly kind: ObjectKind | "Namespace";
  readonly ref: Ref;
  readonly object: Fields;
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
    readonly namespace: string;
  },
): FileCluster {
  const { kinds } = config;
  const { selector } = flags;
  // The files are in memory already, so their data are not counted twice.
  const dataCacheBytes = Number.POSITIVE_INFINITY;
  const builder = new ClusterBuilder({ settings, kinds, selector, dataCacheBytes, outlined: true });
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
      const told = String(raw["kind"]);
      skipped.set(told, (skipped.get(told) ?? 0) + 1);
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
  return {
    builder,
    clusterStates: builder.states(),
    unknown: [],
    rights: ALL_RIGHTS,
    skipped,
    implied,
    unread,
    look: (kind, ref) => Promise.resolve(placed.get(keyOf({ kind, ref }))?.object),
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

/**
 * Why an API server would refuse an object of a kind that takes part. Undefined when it would accept it.
 * Throws the reason as a UsageError unless the file was found in a folder.
 */
export function faultOf({ raw, where, found }: FileObject, namespace: string): string | undefined {
  try {
    placedOf(raw, where, namespace);
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
  const configMaps = kinds.includes("ConfigMap");
  return clusterList(list?.object, { list: ref, configMaps, onlyNames });
}

function placedOf(raw: Fields, where: string, namespace: string): Placed | undefined {
  if (isObjectOf(NAMESPACES, raw)) return { kind: "Namespace", ...namespaceOf(raw, where) };
  const kind = OBJECT_KINDS.find((each) => isObjectOf(KINDS[each].resource, raw));
  return kind && { kind, ...objectOfKind(kind, raw, where, namespace) };
}

type Read = { readonly ref: Ref; readonly object: Fields };

function namespaceOf(raw: Fields, where: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isNamespaceName(name))
    throw new UsageError(`${where}: "${name}" is not the name of a namespace`);
  const ref = { namespace: "", name };
  return { ref, object: { ...raw, metadata: { ...identity(ref), ...metadata } } };
}

function objectOfKind(kind: ObjectKind, raw: Fields, where: string, otherwise: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isSecretName(name)) throw new UsageError(`${where}: "${name}" is not the name of a ${kind}`);
  const { namespace = otherwise } = metadata;
  if (typeof namespace !== "string" || !isNamespaceName(namespace))
    throw new UsageError(`${where}: metadata.namespace of ${kind} ${name} is no namespace's name`);
  const ref = { namespace, name };
  const what = `${kind} ${refText(ref)}`;
  const maps = KINDS[kind].fields.map(
    (field) =>
      [field.name, textsOf(raw[field.name], `${where}: ${field.name} of ${what}`)] as const,
  );
  const payload: Record<string, Readonly<Record<string, string>>> = Object.fromEntries(maps);
  // Only Secrets have this field, for manual editing.
  if (kind === "Secret")
    payload["data"] = {
      ...payload["data"],
      ...encoded(textsOf(raw["stringData"], `${where}: stringData of ${what}`)),
    };
  const object = { ...raw, metadata: { ...identity(ref), ...metadata, namespace }, ...payload };
  return { ref, object };
}

function encoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
}

function metadataOf(raw: Fields, where: string): Fields {
  const metadata = raw["metadata"];
  if (!isRecord(metadata)) throw new UsageError(`${where}: ${String(raw["kind"])} has no metadata`);
  for (const field of ["labels", "annotations"])
    textsOf(metadata[field], `${where}: metadata.${field} of ${String(metadata["name"])}`);
  return metadata;
}

function nameOf({ name }: Fields, where: string): string {
  if (typeof name === "string" && name !== "") return name;
  throw new UsageError(`${where}: metadata.name is missing`);
}

// Like the API server, it does not accept a number or a bare true as text.
function textsOf(value: unknown, what: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new UsageError(`${what} is no mapping`);
  const texts: [string, string][] = [];
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string" && text !== null)
      throw new UsageError(`${what}: ${key} is no text; put it in quotes`);
    texts.push([key, text ?? ""]);
  }
  return Object.fromEntries(texts);
}

const LONG_AGO = "1970-01-01T00:00:00Z";

// Fields that an API server would set. A dump of a cluster has its own.
function identity(ref: Ref): Fields {
  return {
    uid: `file:${refText(ref)}`,
    resourceVersion: "1",
    creationTimestamp: LONG_AGO,
  };
}

function impliedNamespace(name: string): Fields {
  return { metadata: { name, ...identity({ namespace: "", name }) } };
}

function textOf({ namespace, name }: Ref): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
