// Kinds that the sandbox stores unchanged, for other controllers: Pods, Services, Deployments, and the
// kinds of CustomResourceDefinitions. Promises: metadata, versions, lists, watches, selectors, patches and
// the status subresource work as for every other kind. For a custom resource, columns, categories and all
// served versions are as declared. Its unknown fields are dropped and defaults set as its schema says. The
// behaviour of the real kinds is not promised. Nothing is scheduled, run or scaled, no Service gets an
// address, and no schema refuses a value. Deleting an owner does not delete what it owned. Versions are
// converted by their apiVersion alone.
import { asList, asObject, asText, isList, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";
import type { Storage } from "../storage/storage.ts";
import { printerColumns } from "./printer-columns.ts";
import { paths, resource, resources } from "./resources.ts";
import type { ServedResource } from "./resources.ts";
import type { Fields, Shape } from "./schema.ts";

const shallow = {
  fields: { spec: "any", status: "any" },
  statusSubresource: true,
} as const;
const workload = { ...shallow, categories: ["all"] };

export const definitions = resource({
  ...shallow,
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  shortNames: ["crd", "crds"],
  namespaced: false,
});

export const shallowKinds: readonly ServedResource[] = [
  resource({
    ...workload,
    kind: "Pod",
    shortNames: ["po"],
    fieldLabels: paths(["spec.nodeName", "status.phase"]),
  }),
  resource({ ...workload, kind: "Service", shortNames: ["svc"] }),
  resource({ ...workload, group: "apps", kind: "Deployment", shortNames: ["deploy"] }),
  definitions,
];

/** Every kind that a sandbox serves now: its own, and with `shallow` those of this file too. */
export function servedKinds(storage: Storage, shallow: boolean): readonly ServedResource[] {
  if (!shallow) return resources;
  const custom = [...storage.collection(definitions.storage).view().objects.values()];
  return [...resources, ...shallowKinds, ...custom.flatMap(customKinds)];
}

/** The field and the problem of an invalid definition. Undefined when it can be served. */
export function definitionFault(object: StoredObject): readonly [string, string] | undefined {
  const spec = asObject(object["spec"]);
  const group = asText(spec["group"]);
  const plural = asText(asObject(spec["names"])["plural"]);
  const taken = [...resources, ...shallowKinds].some((row) => row.group === group);
  if (!group.includes(".") || taken)
    return ["spec.group", "should be a domain with at least one dot, and no group served already"];
  if (object.metadata.name !== `${plural}.${group}`)
    return ["metadata.name", 'must be spec.names.plural+"."+spec.group'];
  if (asText(asObject(spec["names"])["kind"]) === "") return ["spec.names.kind", "Required value"];
  if (storedVersion(spec) === undefined)
    return ["spec.versions", "must have exactly one version marked as storage version, and served"];
  return undefined;
}

/** The status of a definition that the real server serves. */
export function establish(object: StoredObject): StoredObject {
  const names = asObject(asObject(object["spec"])["names"]);
  const lastTransitionTime = object.metadata.creationTimestamp;
  const conditions = ["NamesAccepted", "Established"].map((type) => ({
    type,
    status: "True",
    reason: type === "Established" ? "InitialNamesAccepted" : "NoConflicts",
    message: "",
    lastTransitionTime,
  }));
  const stored = storedVersion(asObject(object["spec"]));
  const storedVersions = stored ? [asText(stored["name"])] : [];
  return { ...object, status: { acceptedNames: names, conditions, storedVersions } };
}

function servedVersions(spec: JsonObject): readonly JsonObject[] {
  const versions = asList(spec["versions"]).map(asObject);
  return versions.filter((version) => version["served"] === true);
}

function storedVersion(spec: JsonObject): JsonObject | undefined {
  const stored = asList(spec["versions"])
    .map(asObject)
    .filter((version) => version["storage"] === true);
  return stored.length === 1 && stored[0]?.["served"] === true ? stored[0] : undefined;
}

/** A row for each served version. All versions are one collection. */
function customKinds(definition: StoredObject): readonly ServedResource[] {
  const spec = asObject(definition["spec"]);
  const stored = storedVersion(spec);
  if (stored === undefined) return [];
  return servedVersions(spec).map((version) => customKind(definition, version, stored));
}

function customKind(
  definition: StoredObject,
  version: JsonObject,
  stored: JsonObject,
): ServedResource {
  const spec = asObject(definition["spec"]);
  const names = asObject(spec["names"]);
  const group = asText(spec["group"]);
  const plural = asText(names["plural"]);
  const kind = asText(names["kind"]);
  const schema = asObject(asObject(version["schema"])["openAPIV3Schema"]);
  const subresources = asObject(version["subresources"]);
  return resource({
    group,
    version: asText(version["name"]),
    plural,
    singular: asText(names["singular"]) || kind.toLowerCase(),
    kind,
    shortNames: asList(names["shortNames"]).map(asText),
    categories: asList(names["categories"]).map(asText),
    namespaced: spec["scope"] !== "Cluster",
    // A definition that is created again under its old name begins without objects.
    storage: `${plural}/${definition.metadata.uid}`,
    fields: fieldsOf(schema),
    unconditionalUpdate: false,
    statusSubresource: subresources["status"] !== undefined,
    ...scaleOf(subresources),
    schema,
    printerColumns: printerColumns(version),
    // Conversion by the strategy None: only the apiVersion differs.
    ...(version !== stored && { renamed: {}, storedVersion: `${group}/${asText(stored["name"])}` }),
  });
}

function scaleOf(subresources: JsonObject): Pick<ServedResource, "scale"> {
  const { scale } = subresources;
  if (!isObject(scale)) return {};
  const pathOf = (field: string): readonly string[] => asText(scale[field]).split(".").slice(1);
  const selector = pathOf("labelSelectorPath");
  return {
    scale: {
      replicas: pathOf("specReplicasPath"),
      status: pathOf("statusReplicasPath"),
      selector: selector.length === 0 ? undefined : selector,
    },
  };
}

function fieldsOf(schema: JsonObject): Fields {
  const shape = shapeOf({ ...schema, type: "object" });
  if (typeof shape === "string" || !("fields" in shape)) return {};
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = shape.fields;
  return fields;
}

// Objects drop fields that the schema does not name. Values are not checked.
function shapeOf(schema: JsonObject): Shape {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return "any";
  if (schema["type"] === "array") return { list: shapeOf(asObject(schema["items"])) };
  if (schema["type"] !== "object") return "any";
  const more = schema["additionalProperties"];
  if (isObject(more)) return { map: shapeOf(more) };
  const properties = Object.entries(asObject(schema["properties"]));
  if (properties.length === 0) return "any";
  return { fields: Object.fromEntries(properties.map(([k, v]) => [k, shapeOf(asObject(v))])) };
}

/** With the defaults of the schema, where an object that has them is there. */
export function withDefaults(value: Json, schema: JsonObject): Json {
  if (isList(value)) {
    const items = asObject(schema["items"]);
    return value.map((item) => withDefaults(item, items));
  }
  if (!isObject(value)) return value;
  const out: Record<string, Json> = { ...value } as Record<string, Json>;
  for (const [field, of] of Object.entries(asObject(schema["properties"]))) {
    const given = out[field] ?? asObject(of)["default"];
    if (given !== undefined) out[field] = withDefaults(given, asObject(of));
  }
  return out;
}
