// Tells a webhook what is created, updated and deleted, of any kinds of resources that it is given by
// name: the API server's own and those of CustomResourceDefinitions. What was there before it started
// is not news. A message is delivered at least once: while the receiver is down it is tried again.
import type { ApiClient } from "../../src/kube/rest/client.ts";
import type { Clock } from "../../src/kube/time/clock.ts";
import type { Informer } from "../../src/kube/cache/informer.ts";
import { WorkQueue } from "../../src/kube/workqueue/queue.ts";
import type { KubeObject, Resource } from "../../src/kube/rest/resource.ts";
import { runLoop } from "./loop.ts";
import type { Log } from "./loop.ts";
import { informerOf } from "./objects.ts";
import type { Kept } from "./objects.ts";

export type Notice = {
  readonly action: "created" | "updated" | "deleted";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

type Options = {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Kinds as people write them: "Pod", "Deployment". */
  readonly kinds: readonly string[];
  /** Delivers one notice; throws when it could not. */
  readonly send: (notice: Notice) => Promise<void>;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export async function runNotifier(options: Options): Promise<void> {
  const { client, clock, kinds, send, log, signal } = options;
  // Here the key is the message: what happened cannot be read from the cache afterwards. Equal
  // messages that wait at the same time are one.
  const queue = new WorkQueue<string>({ name: "notices", clock });
  const resources = await findResources(client, kinds, signal);
  const informers = resources.map((resource) => {
    const informer = informerOf<KubeObject>(options, resource);
    tellOf(resource, informer, (notice) => queue.add(JSON.stringify(notice)));
    return informer;
  });
  const sync = (key: string): Promise<void> => send(JSON.parse(key));
  await runLoop({ name: "notifier", informers, queue, sync, maxRetries: 15, log, signal });
}

function tellOf(
  { kind }: Resource,
  informer: Informer<Kept<KubeObject>>,
  tell: (notice: Notice) => void,
): void {
  const notice = (action: Notice["action"], { namespace, name }: Kept<KubeObject>): void =>
    tell({ action, kind, namespace, name });
  informer.addHandler({
    add: (object, isInInitialList) => {
      if (!isInInitialList) notice("created", object);
    },
    update: (old, object) => {
      if (old.uid !== object.uid) {
        notice("deleted", old);
        notice("created", object);
      } else if (old.resourceVersion !== object.resourceVersion) notice("updated", object);
    },
    delete: (last) => notice("deleted", last),
  });
}

type ResourceList = {
  readonly groupVersion: string;
  readonly resources: readonly { readonly name: string; readonly kind: string }[];
};
type GroupList = {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
};

/** Where each kind lives, by asking the server; an unknown kind is an error that names it. */
async function findResources(
  client: ApiClient,
  kinds: readonly string[],
  signal: AbortSignal,
): Promise<readonly Resource[]> {
  const get = <T>(path: string): Promise<T> =>
    client.request<T>({ method: "GET", path, what: `discover ${path}`, signal });
  const { groups } = await get<GroupList>("/apis");
  const paths = groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`);
  const lists = await Promise.all(["/api/v1", ...paths].map((path) => get<ResourceList>(path)));
  return kinds.map((kind) => {
    for (const { groupVersion, resources } of lists) {
      const found = resources.find(({ name, kind: of }) => of === kind && !name.includes("/"));
      if (found !== undefined) return resourceOf(groupVersion, found.name, kind);
    }
    throw new Error(`the API server has no kind "${kind}"`);
  });
}

function resourceOf(groupVersion: string, plural: string, kind: string): Resource {
  const [first = "", second] = groupVersion.split("/");
  return second === undefined
    ? { group: "", version: first, plural, kind }
    : { group: first, version: second, plural, kind };
}

/** A sender that POSTs each notice as JSON to a URL. */
export function webhook(url: string): (notice: Notice) => Promise<void> {
  return async (notice) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(notice) });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`webhook answered ${answer.status}`);
  };
}
