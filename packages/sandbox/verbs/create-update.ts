// Create and update as in the real registry: admission of the namespace, defaults, preconditions,
// optimistic locking, validation, and no new version without a change. Nothing here waits, so each is one
// step and no other request can run in between.
import { randomUUID, randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { rulesFor } from "../kinds/strategies.ts";
import { isFinal, timestamp } from "../kinds/finalization.ts";
import { manage, type Owner } from "../kinds/field-manager.ts";
import type { StoredObject, Metadata } from "../storage/object.ts";
import { namespaces } from "../kinds/resources.ts";
import type { ServedResource } from "../kinds/resources.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  invalidObject,
  invalidValue,
  notFound,
  quoted,
  staleVersion,
  unexplained,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { keyOf } from "../storage/storage.ts";
import type { Storage } from "../storage/storage.ts";
import { metadataCauses, metadataUpdateCauses } from "../kinds/metadata-validation.ts";

export type ObjectWrite = Owner & {
  readonly storage: Storage;
  readonly namespace: string | undefined;
  readonly dryRun: boolean;
  readonly subresource?: "status" | "finalize";
};

export type Written = { readonly code: 200 | 201; readonly object: StoredObject };

export function create(write: ObjectWrite, draft: StoredObject): Written {
  const { resource, storage } = write;
  const given = inNamespace(write, draft).metadata;
  admitNamespace(write, given.name || (given.generateName ?? ""));
  const named = withName(given);
  if (named.resourceVersion !== "" && named.resourceVersion !== "0")
    throw unexplained("resourceVersion should not be set on objects to be created");
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = named;
  const rules = rulesFor(resource);
  const born = {
    ...metadata,
    uid: randomUUID(),
    creationTimestamp: timestamp(write.now),
    resourceVersion: "",
  };
  const object = rules.prepare({ ...draft, metadata: born }, undefined);
  check(resource, object, [
    ...rules.causes(object, undefined, resource.group),
    ...metadataCauses(object, rules.name),
  ]);
  const collection = storage.collection(resource.storage);
  const key = keyOf(write.namespace, metadata.name);
  const taken = collection.get(key);
  if (taken)
    throw alreadyExists(resource, metadata.name, taken.metadata.deletionTimestamp !== undefined);
  const managed = manage(write, object, undefined);
  return { code: 201, object: write.dryRun ? managed : collection.put(key, managed) };
}

/** PUT: `draft` replaces the stored object. */
export function replace(write: ObjectWrite, name: string, draft: StoredObject): Written {
  const { resource } = write;
  const collection = write.storage.collection(resource.storage);
  const before = collection.get(keyOf(write.namespace, name));
  const wanted = inNamespace(write, draft);
  checkName(wanted, name);
  if (before) {
    const { uid } = wanted.metadata;
    const there = before.metadata.uid;
    const at = `/registry/${resource.storage}/${keyOf(write.namespace, name)}`;
    const why = `StorageError: invalid object, Code: 4, Key: ${at}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${there}`;
    if (uid !== "" && uid !== there) throw conflict(resource, name, why);
    return update(write, before, wanted);
  }
  if (!resource.createOnUpdate) throw notFound(resource, name);
  return create(write, { ...wanted, metadata: { ...wanted.metadata, resourceVersion: "" } });
}

/** Stores `draft` over `before`, which is the present state. */
export function update(write: ObjectWrite, before: StoredObject, draft: StoredObject): Written {
  const { resource } = write;
  const { name } = before.metadata;
  checkVersion(resource, before, draft.metadata.resourceVersion);
  const kept = keepSystemFields(before, inNamespace(write, draft));
  const rules = rulesFor(resource);
  const object =
    write.subresource === undefined
      ? rules.prepare(kept, before)
      : onlySubresource(write.subresource, before, kept);
  check(resource, object, [
    ...identityCauses(object, before),
    ...metadataUpdateCauses(object, before),
    ...rules.causes(object, before, resource.group),
    ...metadataCauses(object, rules.name),
  ]);
  const managed = manage(write, object, before);
  if (isSame(managed, before)) return { code: 200, object: before };
  if (write.dryRun) return { code: 200, object: managed };
  const collection = write.storage.collection(resource.storage);
  const key = keyOf(write.namespace, name);
  if (!isFinal(managed)) return { code: 200, object: collection.put(key, managed) };
  collection.remove(key);
  return { code: 200, object: managed };
}

/** Throws a 400 for a draft that does not have the name of its path. */
export function checkName(draft: StoredObject, name: string): void {
  const given = draft.metadata.name;
  if (given === "")
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (given !== name)
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
}

function inNamespace(write: ObjectWrite, draft: StoredObject): StoredObject {
  const given = draft.metadata.namespace ?? "";
  if (given !== "" && given !== write.namespace)
    throw badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  if (write.namespace === undefined) return draft;
  return { ...draft, metadata: { ...draft.metadata, namespace: write.namespace } };
}

// The letters of apimachinery's random names. Vowels and easily confused letters are excluded.
const letters = "bcdfghjklmnpqrstvwxz2456789";

function withName(metadata: Metadata): Metadata {
  const prefix = metadata.generateName ?? "";
  if (metadata.name !== "" || prefix === "") return metadata;
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join("");
  return { ...metadata, name: `${prefix.slice(0, 58)}${suffix}` };
}

/** Nothing is created in a namespace that does not exist or is being deleted. */
function admitNamespace(write: ObjectWrite, name: string): void {
  if (write.namespace === undefined) return;
  const owner = write.storage.collection(namespaces.storage).get(write.namespace);
  if (owner === undefined) throw notFound(namespaces, write.namespace);
  if (owner.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${write.namespace} because it is being terminated`;
  throw forbidden(write.resource, name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${write.namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}

function checkVersion(resource: ServedResource, before: StoredObject, given: string): void {
  const { name, resourceVersion } = before.metadata;
  if (given === "" || given === "0") {
    if (resource.unconditionalUpdate) return;
    const cause = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
    // This message contains the resource. Every other refusal contains the kind.
    throw invalidObject({ ...resource, kind: resource.plural }, name, [cause]);
  }
  if (!/^\d+$/.test(given))
    throw unexplained(`strconv.ParseUint: parsing ${quoted(given)}: invalid syntax`);
  if (given !== resourceVersion) throw conflict(resource, name, staleVersion);
}

function keepSystemFields(before: StoredObject, draft: StoredObject): StoredObject {
  const { uid, creationTimestamp, resourceVersion } = before.metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...given } = draft.metadata;
  return {
    ...draft,
    metadata: {
      ...given,
      uid: given.uid === "" ? uid : given.uid,
      creationTimestamp,
      resourceVersion,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    },
  };
}

function identityCauses(object: StoredObject, before: StoredObject): StatusCause[] {
  return (["name", "uid"] as const)
    .filter((field) => object.metadata[field] !== before.metadata[field])
    .map((field) =>
      invalidValue(`metadata.${field}`, object.metadata[field], "field is immutable"),
    );
}

function onlySubresource(
  subresource: "status" | "finalize",
  before: StoredObject,
  draft: StoredObject,
): StoredObject {
  const metadata = {
    ...before.metadata,
    ...(draft.metadata.finalizers ? { finalizers: draft.metadata.finalizers } : {}),
  };
  return subresource === "status"
    ? { ...before, status: draft["status"] ?? {} }
    : { ...before, metadata, spec: draft["spec"] ?? {} };
}

function check(
  resource: ServedResource,
  object: StoredObject,
  causes: readonly StatusCause[],
): void {
  // Events are one kind under two groups, and refused in the name of the older.
  const group = resource.storage === "events" ? "" : resource.group;
  if (causes.length > 0)
    throw invalidObject({ group, kind: resource.kind }, object.metadata.name, causes);
}

/** Whether a write changes nothing. The times in managedFields do not count. */
function isSame(next: StoredObject, before: StoredObject): boolean {
  const comparable = ({ metadata, ...object }: StoredObject) => {
    const managedFields = (metadata.managedFields ?? []).map((entry) => ({
      ...entry,
      time: undefined,
    }));
    return { ...object, metadata: { ...metadata, managedFields } };
  };
  return isDeepStrictEqual(comparable(next), comparable(before));
}
