// DELETE of one object and of a collection: preconditions, finalizers, dry runs. A namespace is only
// marked, and namespace-controller.ts empties it. Owner references are ignored, because there is no garbage
// collector for any propagationPolicy.
import { erase, marked } from "../kinds/finalization.ts";
import { asObject, asText } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import { namespaces } from "../kinds/resources.ts";
import { conflict, forbidden, notFound, preconditionFailed } from "../storage/status.ts";
import { keyOf } from "../storage/storage.ts";
import type { ObjectWrite } from "./create-update.ts";

export type Deleted = { readonly object: StoredObject; readonly gone: boolean };

/** The namespaces that the real server never deletes. */
const permanent = new Set(["default", "kube-system", "kube-public"]);

/** Deletes `name` under the preconditions of `options` (a DeleteOptions body). */
export function remove(write: ObjectWrite, name: string, options: JsonObject): Deleted {
  const { resource, storage } = write;
  const collection = storage.collection(resource.storage);
  const key = keyOf(write.namespace, name);
  if (resource === namespaces && permanent.has(name))
    throw forbidden(resource, name, "this namespace may not be deleted");
  const object = collection.get(key);
  if (object === undefined) throw notFound(resource, name);
  checkPreconditions(write, object, asObject(options["preconditions"]));
  if (resource === namespaces) return terminate(write, object);
  if (write.dryRun) return { object, gone: (object.metadata.finalizers?.length ?? 0) === 0 };
  const left = erase(collection, key, write.now);
  return { object: left ?? object, gone: left === undefined };
}

function terminate(write: ObjectWrite, namespace: StoredObject): Deleted {
  const { metadata } = namespace;
  if (metadata.deletionTimestamp !== undefined) return { object: namespace, gone: false };
  const { deletionGracePeriodSeconds: _, ...going } = marked(namespace, write.now).metadata;
  const object = {
    ...namespace,
    metadata: going,
    status: { ...asObject(namespace["status"]), phase: "Terminating" },
  };
  if (write.dryRun) return { object, gone: false };
  return {
    object: write.storage.collection(namespaces.storage).put(metadata.name, object),
    gone: false,
  };
}

const preconditions = [
  ["uid", "UID", "deleted and then recreated"],
  ["resourceVersion", "ResourceVersion", "modified"],
] as const;

function checkPreconditions(write: ObjectWrite, object: StoredObject, given: JsonObject): void {
  const { resource } = write;
  const { name } = object.metadata;
  for (const [field, title, happened] of preconditions) {
    const own = object.metadata[field];
    // An empty precondition is one, which no object meets.
    const wanted = asText(given[field] ?? own);
    if (wanted === own) continue;
    if (resource === namespaces) {
      const why = `Precondition failed: ${title} in precondition: ${wanted}, ${title} in object meta: ${own}`;
      throw conflict(resource, name, why);
    }
    const why = `the ${title} in the precondition (${wanted}) does not match the ${title} in record (${own}). The object might have been ${happened}`;
    throw preconditionFailed(resource, name, why);
  }
}
