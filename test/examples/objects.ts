// What the example controllers keep of an object: all of it, under the fields that a cache needs. Their
// caches are small; a controller over many objects keeps only what it looks at.
import { Informer } from "../../src/kube/cache/informer.ts";
import type { EventHandler } from "../../src/kube/cache/event-handlers.ts";
import type { ApiClient } from "../../src/kube/rest/client.ts";
import type { Clock } from "../../src/kube/time/clock.ts";
import type { KubeObject, Resource } from "../../src/kube/rest/resource.ts";

export type Kept<O extends KubeObject> = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: O;
};

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
};

export const PODS: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
export const SERVICES: Resource = { group: "", version: "v1", plural: "services", kind: "Service" };
export const DEPLOYMENTS: Resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
};

type Api = { readonly client: ApiClient; readonly clock: Clock };

/** An informer of whole objects; `O` is the shape that the API server holds that resource to. */
export function informerOf<O extends KubeObject>(
  { client, clock }: Api,
  resource: Resource,
  scope: { readonly namespace?: string | undefined; readonly labelSelector?: string } = {},
): Informer<Kept<O>> {
  const transform = (raw: KubeObject): Kept<O> => {
    const { namespace = "", name, uid, resourceVersion } = raw.metadata;
    return { namespace, name, uid, resourceVersion, object: raw as O };
  };
  return new Informer({ client, clock, resource, ...scope, transform });
}

/** Handlers that do no work: whatever happened to an object, its keys are looked at again. */
export function enqueues<T>(
  keys: (object: T) => readonly string[],
  add: (key: string) => void,
): EventHandler<T> {
  const each = (object: T): void => keys(object).forEach((key) => add(key));
  return {
    add: each,
    update: (old, object) => {
      each(old);
      each(object);
    },
    delete: each,
  };
}

/** `namespace/name`, the key of nearly every controller. */
export const keyOf = ({ namespace, name }: Pick<Kept<KubeObject>, "namespace" | "name">): string =>
  `${namespace}/${name}`;

export function parseKey(key: string): readonly [namespace: string, name: string] {
  const [namespace = "", name = ""] = key.split("/");
  return [namespace, name];
}

/** The one owner that controls an object, if it is of that kind: its name, and its UID. */
export function controllerOf(object: KubeObject, kind: string): OwnerReference | undefined {
  const owners = object.metadata["ownerReferences"] as readonly OwnerReference[] | undefined;
  return owners?.find((owner) => owner.controller === true && owner.kind === kind);
}

export const ownedBy = (owner: KubeObject, apiVersion: string, kind: string): OwnerReference => ({
  apiVersion,
  kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
});
