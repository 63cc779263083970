// The OpenAPI v3 documents of what is served, as far as kubectl reads them: which parameters a patch takes, and
// the fields of each kind for `kubectl explain`.
import { asObject, type JsonObject } from "../storage/object.ts";
import { groupVersion, type ServedResource } from "../kinds/resources.ts";
import { metadataShape, type Shape } from "../kinds/schema.ts";
import { SANDBOX_RELEASE } from "./discovery.ts";

type Rows = readonly ServedResource[];

/** The answer to a path under /openapi/v3; Undefined when it does not exist. */
export function openapi(path: string, served: Rows): JsonObject | undefined {
  const all = [...new Set(served.map((row) => groupVersion(row)))];
  const nameOf = (each: string) => (each.includes("/") ? `apis/${each}` : `api/${each}`);
  if (path === "/openapi/v3") {
    const paths = all.map((each): [string, JsonObject] => [
      nameOf(each),
      { serverRelativeURL: `/openapi/v3/${nameOf(each)}?hash=1` },
    ]);
    return { paths: Object.fromEntries(paths) };
  }
  const asked = all.find((each) => path === `/openapi/v3/${nameOf(each)}`);
  if (asked === undefined) return undefined;
  const rows = served.filter((row) => groupVersion(row) === asked);
  return {
    openapi: "3.0.0",
    info: { title: "secretcast sandbox", version: SANDBOX_RELEASE },
    paths: Object.fromEntries(rows.map((row) => [objectPath(nameOf(asked), row), patchPath(row)])),
    components: {
      schemas: Object.fromEntries(rows.map((row) => [schemaName(row), schemaOf(row)])),
    },
  };
}

function objectPath(name: string, row: ServedResource): string {
  return `/${name}/${row.namespaced ? "namespaces/{namespace}/" : ""}${row.plural}/{name}`;
}

// kubectl searches for fieldValidation in the parameters of PATCH. If present, kubectl leaves checking to
// the server.
function patchPath(row: ServedResource): JsonObject {
  const parameter = (name: string) => ({ name, in: "query", schema: { type: "string" } });
  const { group, version: ofRow, kind } = row;
  return {
    patch: {
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group, version: ofRow, kind },
      parameters: ["dryRun", "fieldManager", "fieldValidation", "force"].map(parameter),
    },
  };
}

function schemaName({ group, version, kind }: ServedResource): string {
  return `io.k8s.${group === "" ? "core" : group}.${version}.${kind}`;
}

// What `kubectl explain` reads: the fields of a kind. A custom resource has its own schema.
function schemaOf({ group, version: ofRow, kind, fields, schema }: ServedResource): JsonObject {
  const own = schema ?? shapeSchema({ fields });
  return {
    ...own,
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      ...asObject(own["properties"]),
      metadata: shapeSchema(metadataShape),
    },
    "x-kubernetes-group-version-kind": [{ group, version: ofRow, kind }],
  };
}

const SCALARS: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  bytes: { type: "string", format: "byte" },
  boolean: { type: "boolean" },
  integer: { type: "integer" },
  time: { type: "string", format: "date-time" },
  microTime: { type: "string", format: "date-time" },
  any: { type: "object" },
};

function shapeSchema(shape: Shape): JsonObject {
  if (typeof shape === "string") return SCALARS[shape] ?? { type: "object" };
  if ("list" in shape) return { type: "array", items: shapeSchema(shape.list) };
  if ("map" in shape) return { type: "object", additionalProperties: shapeSchema(shape.map) };
  const properties = Object.entries(shape.fields).map(([name, field]): [string, JsonObject] => [
    name,
    shapeSchema(field),
  ]);
  return { type: "object", properties: Object.fromEntries(properties) };
}
