// A cluster as files describe it: Namespaces and Secrets, as an API server would have them once applied
// to an empty cluster. Promises: what has no UID gets one that follows from its place, so that the same
// files give the same plan; a namespace that only Secrets name exists, without labels; what takes no
// part is counted by kind. What an API server would not take is a UsageError with file and line.
import { UsageError } from "../../config/config.ts";
import { isRecord } from "../../kube/json.ts";
import { isNamespaceName, isSecretName, refText, type Ref } from "../../core/annotations/names.ts";
import type { PlannerSettings } from "../../core/model/cluster.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import type { FileObject } from "./file-objects.ts";
import type { ReadWorld } from "./read-cluster.ts";
import { WorldBuilder } from "./world-builder.ts";

export type FileWorld = ReadWorld & {
  /** How many there were of each kind that takes no part. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Namespaces that Secrets name and no file describes. */
  readonly implied: readonly string[];
};

type Fields = Readonly<Record<string, unknown>>;

/** `namespace`: of objects that name none. */
export function readFiles(
  objects: readonly FileObject[],
  {
    settings,
    flags,
    namespace,
  }: {
    readonly settings: PlannerSettings;
    readonly flags: Pick<KubectlFlags, "selector">;
    readonly namespace: string;
  },
): FileWorld {
  const { selector } = flags;
  // The files are at hand already: their data are not counted twice.
  const dataCacheBytes = Number.POSITIVE_INFINITY;
  const builder = new WorldBuilder({ settings, selector, dataCacheBytes });
  const skipped = new Map<string, number>();
  const places = new Map<string, { readonly raw: unknown; readonly where: string }>();
  const named = new Set<string>();
  for (const { raw, where } of objects) {
    const kind = kindOf(raw);
    if (kind === undefined) {
      const told = String(raw["kind"]);
      skipped.set(told, (skipped.get(told) ?? 0) + 1);
      continue;
    }
    const read = kind === "Namespace" ? namespaceOf(raw, where) : secretOf(raw, where, namespace);
    const place = `${kind} ${refText(read.ref)}`;
    const before = places.get(place);
    if (before)
      throw new UsageError(
        `${where}: ${kind} ${textOf(read.ref)} is there twice; first at ${before.where}`,
      );
    places.set(place, { raw: read.object, where });
    if (kind === "Namespace") builder.addNamespace(read.object);
    else {
      builder.addObject(read.object);
      named.add(read.ref.namespace);
    }
  }
  const implied = [...named].filter((name) => !builder.namespaces.has(name)).toSorted();
  for (const name of implied) builder.addNamespace(impliedNamespace(name));
  return {
    builder,
    world: builder.state(),
    unknown: [],
    skipped,
    implied,
    look: (place) => Promise.resolve(places.get(`Secret ${refText(place)}`)?.raw),
  };
}

function kindOf({ apiVersion, kind }: Fields): "Namespace" | "Secret" | undefined {
  if (apiVersion !== "v1") return undefined;
  return kind === "Namespace" || kind === "Secret" ? kind : undefined;
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

function secretOf(raw: Fields, where: string, otherwise: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isSecretName(name)) throw new UsageError(`${where}: "${name}" is not the name of a Secret`);
  const { namespace = otherwise } = metadata;
  if (typeof namespace !== "string" || !isNamespaceName(namespace))
    throw new UsageError(`${where}: metadata.namespace of Secret ${name} is no namespace's name`);
  const ref = { namespace, name };
  const what = `Secret ${refText(ref)}`;
  const data = {
    ...textsOf(raw["data"], `${where}: data of ${what}`),
    ...encoded(textsOf(raw["stringData"], `${where}: stringData of ${what}`)),
  };
  const object = { ...raw, metadata: { ...identity(ref), ...metadata, namespace }, data };
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

// As the API server: a number or a bare true is no text.
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

// What an API server would give it; a dump of a cluster has its own.
function identity(ref: Ref): Fields {
  return {
    uid: `file ${refText(ref)}`,
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
