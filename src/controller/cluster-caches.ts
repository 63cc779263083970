// The caches of a whole cluster: one watch a resource.
import type { Namespace, CachedObject, ClusterState } from "../core/model/cluster.ts";
import type { Watched } from "../kube/cache/informer-group.ts";
import type { WrittenCache } from "../writes/outcome.ts";
import type { Ref } from "../core/annotations/names.ts";
import type { ReadContext } from "../core/observed/read-object.ts";
import { cacheOf, createInformerPair, ROLE, type InformerPairDeps } from "./informer-pair.ts";

export type Caches = {
  readonly secrets: Watched<CachedObject>;
  readonly namespaces: Watched<Namespace>;
  readonly world: ClusterState;
  /** Where the answers of our own writes go. */
  readonly cache: WrittenCache;
  get(place: Ref): CachedObject | undefined;
  /** Listed namespaces that the API server does not let us read. */
  unreadable(): readonly string[];
};

export type Offers = ClusterState["offerOf"];

export function clusterCaches(
  deps: InformerPairDeps,
  context: ReadContext,
  offerOf: Offers,
): Caches {
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
      objectsIn: (namespace) => store.inNamespace(namespace),
      get sources() {
        return store.byIndex(ROLE, "source");
      },
      get pulls() {
        return store.byIndex(ROLE, "pull");
      },
    },
  };
}
