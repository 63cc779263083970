// Tells a webhook what is created, updated and deleted, of any kinds of resources that it is given by
// name: the API server's own and those of CustomResourceDefinitions. What was there before it started
// is no news. A message is delivered at least once: while the receiver is down it is tried again, and
// dropped after fifteen failures, about three minutes.
//
// Arguments: the URL, then kinds as people write them, such as Pod Deployment.
import {
  connectCluster,
  Informer,
  runControlLoop,
  terminationSignal,
  wholeObject,
  WorkQueue,
} from "secretcast/kube";
import type { EventHandler, Resource, WholeObject } from "secretcast/kube";

type Notice = {
  readonly action: "created" | "updated" | "deleted";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

const [url, ...kinds] = process.argv.slice(2);
if (url === undefined || kinds.length === 0) {
  console.error("usage: notifier URL KIND…, such as notifier http://127.0.0.1:8080/ Pod");
  process.exit(2);
}
const receiver = url;
const signal = terminationSignal();
const cluster = connectCluster({ userAgent: "notifier" });
const { client, clock } = cluster;
// Here the key is the message: what happened cannot be read from the cache afterwards. Equal messages
// that wait at the same time are one.
const queue = new WorkQueue<string>({ clock });

/** Where each kind lives, by asking the server; an unknown kind is an error that names it. */
async function findResources(): Promise<readonly Resource[]> {
  type Groups = { groups: { preferredVersion: { groupVersion: string } }[] };
  type Resources = { groupVersion: string; resources: { name: string; kind: string }[] };
  const get = <T>(path: string): Promise<T> =>
    client.request<T>({ method: "GET", path, what: `discover ${path}`, signal });
  const { groups } = await get<Groups>("/apis");
  const paths = groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
  const lists = await Promise.all(["/api/v1", ...paths].map((path) => get<Resources>(path)));
  return kinds.map((kind) => {
    for (const { groupVersion, resources } of lists) {
      const found = resources.find((each) => each.kind === kind && !each.name.includes("/"));
      if (found === undefined) continue;
      const [version = "", group = ""] = groupVersion.split("/").toReversed();
      return { group, version, plural: found.name, kind };
    }
    throw new Error(`the API server has no kind "${kind}"`);
  });
}

function noticesOf(kind: string): EventHandler<WholeObject> {
  const notice = (action: Notice["action"], { namespace, name }: WholeObject): void =>
    queue.add(JSON.stringify({ action, kind, namespace, name } satisfies Notice));
  return {
    add: (object, isInInitialList) => {
      if (!isInInitialList) notice("created", object);
    },
    update: (old, object) => {
      if (old.uid === object.uid) return notice("updated", object);
      notice("deleted", old);
      notice("created", object);
    },
    delete: (last) => notice("deleted", last),
  };
}

async function send(notice: string, until: AbortSignal): Promise<void> {
  const headers = { "content-type": "application/json" };
  const limited = AbortSignal.any([until, AbortSignal.timeout(10_000)]);
  const answer = await fetch(receiver, { method: "POST", headers, body: notice, signal: limited });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`webhook answered ${answer.status}`);
}

const onError = ({ message }: Error): void => console.error(message);
const informers = (await findResources()).map((resource) => {
  const informer = new Informer({ client, clock, resource, transform: wholeObject, onError });
  informer.addHandler(noticesOf(resource.kind));
  return informer;
});
await runControlLoop({
  name: "notifier",
  clock,
  informers,
  queue,
  sync: send,
  workers: 2,
  maxRetries: 15,
  onFailure: ({ error, again }) =>
    console.error(`${String(error)}, ${again ? "again later" : "given up"}`),
  onProgress: console.log,
  signal,
});
await cluster.close();
