// The caches that the planner reads: of the whole cluster by one watch a resource, or of listed
// namespaces (listed-caches.ts).
import { digestData } from "../core/model/secret-data.ts";
import type { DataCache } from "../core/state/data-cache.ts";
import { filterKeys, type KeyFilter } from "../core/annotations/key-filter.ts";
import type { Namespace, Secret, SourceSecret, ClusterState } from "../core/model/cluster.ts";
import type { ReadContext } from "../core/observed/read-secret.ts";
import { cacheOf, createInformerPair, ROLE, type InformerPairDeps } from "./informer-pair.ts";
import { createListedCaches } from "./listed-caches.ts";
import type { Watched } from "../kube/cache/informer-group.ts";
import type { WrittenCache } from "../writes/outcome.ts";
import type { Ref } from "../core/annotations/names.ts";

export type Caches = {
  readonly secrets: Watched<Secret>;
  readonly namespaces: Watched<Namespace>;
  readonly world: ClusterState;
  /** Where the answers of our own writes go. */
  readonly cache: WrittenCache;
  get(place: Ref): Secret | undefined;
  /** Listed namespaces that the API server does not let us read. */
  unreadable(): readonly string[];
};

/** `listed`: the only namespaces to read; undefined: all. */
export function createCaches(
  listed: ReadonlySet<string> | undefined,
  deps: InformerPairDeps,
  context: ReadContext,
  data: DataCache,
): Caches {
  const offerOf = (source: SourceSecret, keys: KeyFilter): string | undefined => {
    const payload = data.get(source);
    const offered = payload && filterKeys(keys, payload.data.reveal());
    return offered?.ok ? digestData(context.digest, offered.value) : undefined;
  };
  const caches = listed
    ? createListedCaches(listed, deps, context, offerOf)
    : clusterCaches(deps, context, offerOf);
  // So that what is gone does not push out what is there.
  caches.secrets.addHandler({
    delete: ({ role, uid }) => {
      if (role === "source") data.forget(uid);
    },
  });
  return caches;
}

export type Offers = ClusterState["offerOf"];

function clusterCaches(deps: InformerPairDeps, context: ReadContext, offerOf: Offers): Caches {
  const { secrets, namespaces } = createInformerPair(deps, context, undefined);
  const { store } = secrets;
  return {
    secrets,
    namespaces,
    cache: cacheOf(
      () => secrets,
      () => namespaces,
      context,
    ),
    get: ({ namespace, name }) => store.get(namespace, name),
    unreadable: () => [],
    world: {
      offerOf,
      get namespaces() {
        return namespaces.store.inNamespace("");
      },
      secretsIn: (namespace) => store.inNamespace(namespace),
      get sources() {
        return store.byIndex(ROLE, "source");
      },
      get pulls() {
        return store.byIndex(ROLE, "pull");
      },
    },
  };
}
