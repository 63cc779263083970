// Selects the objects of files that a move may use. An object that an API server would refuse is left out.
// The same is true for a Secret with a rule that the files contain more than once. They may be layers of
// one object, or several clusters. The rule of one must never be written into the manifest of another.
import { shapeFault } from "../../oldtools/field-shapes.ts";
import { fields, resourceOf, type OldCustom } from "../../oldtools/old-objects.ts";
import { readOldCluster } from "../../oldtools/read-old-objects.ts";
import { movesKind, type OldTool } from "../../oldtools/old-tool.ts";
import type { FileObject } from "../../../inspect/files/file-objects.ts";
import { isNamespaceName, isSecretName } from "../../../text/names.ts";
import { OBJECT_KINDS } from "../../../controller/model/kinds.ts";
import { NO_NAMESPACE } from "../../../inspect/cluster/placed-object.ts";
import { faultOf, SEVERAL } from "../../../inspect/cluster/read-files.ts";

export type UsableObjects = {
  readonly objects: readonly FileObject[];
  /** What is left out, and why. */
  readonly problems: readonly string[];
  /** Namespaces that are there several times, which matters to rules that ask for labels or annotations. */
  readonly layered: readonly string[];
};

/** `namespace`: of objects that name none. Undefined when nothing says it. */
export function usableObjects(
  all: readonly FileObject[],
  tool: OldTool,
  namespace: string | undefined,
): UsableObjects {
  const problems: string[] = [];
  const raws = all.map(({ raw }) => raw);
  const { customs } = readOldCluster(raws, undefined, tool.resources);
  const isRule = (raw: FileObject["raw"]): boolean => hasRule(raw, tool, customs);
  const known = all.flatMap((object): readonly FileObject[] => {
    const fault = placeFault(object, tool, namespace);
    if (fault === undefined) return [withNamespace(object, tool, namespace)];
    // An object without a rule is of no use without its place.
    if (isRule(object.raw)) problems.push(`${object.where}: ${fault}`);
    return [];
  });
  const sound = known.filter((object) => {
    const { raw } = object;
    const fault = ruleFault(object, tool) ?? faultOf(object, namespace) ?? shapeOf(object, tool);
    if (fault === undefined) return true;
    // A placeholder is usual in objects that have nothing to do with the tool.
    if (isRule(raw) || !isTemplated(raw)) problems.push(fault);
    return false;
  });
  const byKey = Map.groupBy(sound, ({ raw }) => manifestKey(raw, tool));
  const objects = sound.filter((object) => {
    const key = manifestKey(object.raw, tool);
    const same = key === undefined ? [] : (byKey.get(key) ?? []);
    // Parts of a policy that copy nothing, as tests contain them, are no layers.
    const isOwn = resourceOf(object.raw, tool.resources) !== undefined;
    const versions = isOwn ? same.filter(({ raw }) => isRule(raw)) : same;
    if (versions.length < 2 || !versions.some(({ raw }) => isRule(raw))) return true;
    if (versions[0] === object) {
      const places = versions.map(({ where }) => where).join(" and ");
      problems.push(
        `${key} is at ${places}: layers or clusters; it is not moved, so migrate the files of one cluster at a time`,
      );
    }
    return false;
  });
  const layered: string[] = [];
  return { objects: withOneNamespaceEach(objects, layered), problems, layered };
}

/** Placeholders of Flux, Argo CD, Helm or a shell have no known value here. */
export const PLACEHOLDER = /\$\{|\$\([A-Za-z_]|\{\{/;

function isTemplated({ metadata }: FileObject["raw"]): boolean {
  const { name, namespace } = fields(metadata);
  return [name, namespace].some((text) => typeof text === "string" && PLACEHOLDER.test(text));
}

/** Why a rule of a Secret or ConfigMap has no known value. */
function ruleFault({ raw, where }: FileObject, { prefixes }: OldTool): string | undefined {
  if (!COPYABLE.has(String(raw["kind"]))) return undefined;
  const { annotations, name } = fields(raw["metadata"]);
  for (const [key, value] of Object.entries(fields(annotations))) {
    if (typeof value !== "string" || !prefixes.some((prefix) => key.startsWith(prefix))) continue;
    const what = `${where}: ${String(raw["kind"])} ${String(name)}: ${key}`;
    if (value.startsWith("ENC["))
      return `${what} is encrypted by SOPS: leave annotations unencrypted (encrypted_regex), or add the rule of secretcast by hand`;
    if (PLACEHOLDER.test(value))
      return `${what} is ${JSON.stringify(value)}, a placeholder whose value is not known here: add the rule of secretcast by hand`;
  }
  return undefined;
}

/** Whether objects of this kind are in namespaces, as far as the move is concerned. */
function isPlaced(raw: FileObject["raw"], tool: OldTool): boolean {
  const resource = resourceOf(raw, tool.resources);
  return resource ? resource.namespaced : COPYABLE.has(String(raw["kind"]));
}

const COPYABLE: ReadonlySet<string> = new Set(OBJECT_KINDS);

/** Why the place of an object is not known. */
function placeFault(
  { raw, place }: FileObject,
  tool: OldTool,
  namespace: string | undefined,
): string | undefined {
  if (place === "several" && raw["kind"] === "Namespace") return "is one of several Namespaces";
  if (!isPlaced(raw, tool)) return undefined;
  const { name, namespace: own = namespace } = fields(raw["metadata"]);
  const what = `${String(raw["kind"])} ${String(name)}`;
  if (place === "several") return `${what} ${SEVERAL}`;
  return own === undefined || own === null ? `${what} ${NO_NAMESPACE}` : undefined;
}

function withNamespace(
  object: FileObject,
  tool: OldTool,
  namespace: string | undefined,
): FileObject {
  const { raw } = object;
  const metadata = fields(raw["metadata"]);
  const isWhole = (metadata["namespace"] ?? undefined) !== undefined;
  if (isWhole || namespace === undefined || !isPlaced(raw, tool)) return object;
  return { ...object, raw: { ...raw, metadata: { ...metadata, namespace } } };
}

function shapeOf({ raw, where }: FileObject, { resources }: OldTool): string | undefined {
  const fault = nameFault(raw, resources) ?? shapeFault(raw, resources);
  return fault === undefined ? undefined : `${where}: ${fault}`;
}

/** Why an API server refuses the name of a custom resource. */
function nameFault(raw: FileObject["raw"], resources: OldTool["resources"]): string | undefined {
  if (!resourceOf(raw, resources)) return undefined;
  const { name, namespace } = fields(raw["metadata"]);
  const isNamed = typeof name === "string" && isSecretName(name);
  if (!isNamed) return `${JSON.stringify(name)} is not the name of a ${String(raw["kind"])}`;
  if (namespace === undefined || namespace === null) return undefined;
  if (typeof namespace === "string" && isNamespaceName(namespace)) return undefined;
  return `${JSON.stringify(namespace)} is not the name of a namespace`;
}

// Layers describe one Namespace several times, and the labels of all of them decide what a rule matches.
function withOneNamespaceEach(
  objects: readonly FileObject[],
  layered: string[],
): readonly FileObject[] {
  const isNamespace = ({ raw }: FileObject): boolean => raw["kind"] === "Namespace";
  const nameOf = ({ raw }: FileObject): string => String(fields(raw["metadata"])["name"]);
  const merged: FileObject[] = [];
  for (const [name, versions] of Map.groupBy(objects.filter(isNamespace), nameOf)) {
    const [first, ...others] = versions;
    if (!first) continue;
    const metadata = versions.map(({ raw }) => fields(raw["metadata"]));
    const union = (field: "labels" | "annotations"): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        metadata.toReversed().flatMap((one) => Object.entries(fields(one[field]))),
      );
    const labels = union("labels");
    const annotations = union("annotations");
    merged.push(
      others.length === 0
        ? first
        : { ...first, raw: { ...first.raw, metadata: { ...metadata[0], labels, annotations } } },
    );
    const texts = new Set(
      metadata.map((one) => JSON.stringify([one["labels"], one["annotations"]])),
    );
    if (texts.size < 2) continue;
    const places = versions.map(({ where }) => where).join(" and ");
    layered.push(
      `Namespace ${name} is at ${places} with different labels or annotations: they are taken together`,
    );
  }
  return [...merged, ...objects.filter((object) => !isNamespace(object))];
}

/** "Secret NAMESPACE/NAME" or "ClusterSecret NAME". Undefined for a kind that is not a part of a move. */
function manifestKey(raw: FileObject["raw"], tool: OldTool): string | undefined {
  const resource = resourceOf(raw, tool.resources);
  if (!resource && !movesKind(tool, raw["kind"])) return undefined;
  const { namespace, name } = fields(raw["metadata"]);
  const title = `${resource ? resource.kind : String(raw["kind"])} `;
  if (resource?.namespaced === false) return `${title}${String(name)}`;
  return `${title}${String(namespace)}/${String(name)}`;
}

function hasRule(raw: FileObject["raw"], tool: OldTool, customs: readonly OldCustom[]): boolean {
  const { prefixes, resources } = tool;
  if (resourceOf(raw, resources)) {
    const own = readOldCluster([raw], undefined, resources).customs;
    return own.some((custom) => tool.copies?.(custom, customs) !== false);
  }
  const { annotations, labels } = fields(raw["metadata"]);
  const keys = [...Object.keys(fields(annotations)), ...Object.keys(fields(labels))];
  return keys.some((key) => prefixes.some((prefix) => key.startsWith(prefix)));
}
