// Presents stored objects and lists to a client as JSON objects, as a table, or as metadata only. Items of
// a list have no kind, as in the real server's typed lists.
import type { Form } from "./negotiation.ts";
import { partial, served } from "../storage/object.ts";
import type { JsonObject, StoredObject, JsonStrings } from "../storage/object.ts";
import { fromStored, groupVersion } from "../kinds/resources.ts";
import type { ServedResource } from "../kinds/resources.ts";
import { badRequest, quoted } from "../storage/status.ts";
import { table } from "./table.ts";
import type { TableOptions } from "./table.ts";

export type Representation = {
  readonly resource: ServedResource;
  readonly form: Form;
  readonly include: TableOptions["include"];
  readonly now: () => number;
};

/** The object of a bookmark: a kind, a version, and annotations for the special one. */
export function showBookmark(
  view: Representation,
  version: string,
  annotations?: JsonStrings,
): JsonObject {
  const { resource, form } = view;
  const marks = { resourceVersion: version, ...(annotations ? { annotations } : {}) };
  if (form === "object")
    return { kind: resource.kind, apiVersion: groupVersion(resource), metadata: marks };
  const metadata = { name: "", uid: "", creationTimestamp: "", ...marks };
  const empty = { apiVersion: groupVersion(resource), kind: resource.kind, metadata };
  return form === "metadata"
    ? { ...partial(empty), metadata: marks }
    : showObject(view, empty, false);
}

/** `columns`: whether a table defines its columns (only the first of a watch does). */
export function showObject(view: Representation, object: StoredObject, columns = true): JsonObject {
  if (view.form === "object")
    return { ...view.resource.always, ...served(fromStored(view.resource, object)) };
  if (view.form === "metadata") return partial(object);
  const { resourceVersion } = object.metadata;
  const options = { now: view.now(), include: view.include, columns };
  return table(view.resource, [object], { resourceVersion }, options);
}

export function showList(view: Representation, listed: Listed): JsonObject {
  const { resource, form } = view;
  const { metadata, objects } = listed;
  if (form === "table") {
    const options = { now: view.now(), include: view.include, columns: true };
    return table(resource, objects, metadata, options);
  }
  if (form === "metadata") {
    const items = objects.map(partial);
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items };
  }
  const items = objects.map((object) => {
    const { apiVersion: _, kind: __, ...item } = fromStored(resource, object);
    return { ...resource.always, ...item };
  });
  return { kind: `${resource.kind}List`, apiVersion: groupVersion(resource), metadata, items };
}

/** The parameter includeObject of tables. */
export function readInclude(query: URLSearchParams): TableOptions["include"] {
  const text = query.get("includeObject") ?? "Metadata";
  if (text === "" || text === "Metadata") return "Metadata";
  if (text === "None" || text === "Object") return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoted(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export type Listed = { readonly metadata: JsonObject; readonly objects: readonly StoredObject[] };
