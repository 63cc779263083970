// The Deployment of a ReplicaSet and the CronJob of a Job, which a Pod does not name. Only their metadata are
// read, and only those of Pods that hold an older value.
import { mapAtOnce } from "../../inspect/requests/at-once.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { getObject } from "../../inspect/requests/get.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { METADATA, type Resource } from "../../../packages/kube/rest/resource.ts";
import { refText } from "../../text/names.ts";
import type { PodOwner, UsingPod } from "../holding/using-pod.ts";
import { ownerOf } from "./read-pod.ts";

const OWNED: readonly Resource[] = [
  { group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet" },
  { group: "batch", version: "v1", plural: "jobs", kind: "Job" },
];

export type Owners = {
  /** At the top of the chain of owners. Undefined for a bare Pod. */
  readonly of: (pod: UsingPod) => PodOwner | undefined;
  /** Resources that may not be read in some namespace: their own owners are not known. */
  readonly unread: readonly Resource[];
};

const AT_ONCE = 16;

export async function findOwners(
  pods: Iterable<UsingPod>,
  client: ApiClient,
  signal: AbortSignal,
): Promise<Owners> {
  const asked = new Map<string, readonly [pod: UsingPod, resource: Resource]>();
  for (const pod of pods) {
    const resource = OWNED.find(({ kind, group, version }) => {
      return pod.owner?.kind === kind && pod.owner.apiVersion === `${group}/${version}`;
    });
    if (resource) asked.set(keyOf(pod), [pod, resource]);
  }
  const found = new Map<string, PodOwner | undefined>();
  const unread = new Set<Resource>();
  await mapAtOnce([...asked], AT_ONCE, async ([key, [pod, resource]]) => {
    const ref = { namespace: pod.namespace, name: pod.owner?.name ?? "" };
    const request = { accept: METADATA, what: `get ${resource.kind} ${refText(ref)}` };
    const object = await orRefusal(getObject(client, resource, ref, signal, request));
    if (!(object instanceof ApiError))
      found.set(key, ownerOf(fieldsIn(fieldsIn(object)["metadata"])));
    else if (object.kind === "forbidden") unread.add(resource);
  });
  return { of: (pod) => found.get(keyOf(pod)) ?? pod.owner, unread: [...unread] };
}

function keyOf({ namespace, owner }: UsingPod): string {
  return `${owner?.kind ?? ""} ${refText({ namespace, name: owner?.name ?? "" })}`;
}
