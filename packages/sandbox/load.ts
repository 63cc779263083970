// Loads initial objects: the namespaces of a new cluster, an example, a test's cluster state.
import { decode, strictError } from "./kinds/decode.ts";
import { asObject, asText } from "./storage/object.ts";
import type { JsonObject } from "./storage/object.ts";
import { groupVersion, resources } from "./kinds/resources.ts";
import type { ServedResource } from "./kinds/resources.ts";
import type { Storage } from "./storage/storage.ts";
import { definitions } from "./kinds/shallow-kinds.ts";
import { create, update } from "./verbs/create-update.ts";

/**
 * Creates `objects` in order, as POST requests at `now` would, and as one to the subresource status would where they
 * have a status. Namespaced objects need a namespace.
 */
export function loadObjects(
  storage: Storage,
  objects: readonly JsonObject[],
  now: number,
  kinds: () => readonly ServedResource[] = () => resources,
): void {
  for (const body of objects) {
    const rows = kinds();
    const apiVersion = asText(body["apiVersion"]) || "v1";
    const resource = rows.find(
      (row) => groupVersion(row) === apiVersion && row.kind === body["kind"],
    );
    if (resource === undefined)
      throw new Error(
        `cannot load an object of kind "${asText(body["kind"])}" in "${apiVersion}": the sandbox serves ${rows.map((row) => row.kind).join(", ")}`,
      );
    const { object, unknown } = decode(resource, body);
    const refusal = strictError(resource, unknown);
    if (refusal) throw refusal;
    const given = asText(asObject(body["metadata"])["namespace"]);
    const namespace = resource.namespaced ? given || "default" : undefined;
    const write = {
      storage,
      resource,
      namespace,
      now,
      dryRun: false,
      manager: "secretcast-sandbox",
      operation: "Update",
    } as const;
    const { object: created } = create(write, object);
    // A cluster state has a status, which no POST writes. The status of a definition says what is served.
    if (resource.statusSubresource !== true || resource === definitions) continue;
    if (object["status"] === undefined) continue;
    update({ ...write, subresource: "status" }, created, { ...created, status: object["status"] });
  }
}
