// The caches of a whole cluster: one watch per resource.
import type { ReadContext } from "../observed/read-context.ts";
import type { KindCache, Offers, ReadCaches } from "./kind-cache.ts";
import {
  createInformers,
  ROLE,
  writtenCache,
  writtenNamespaces,
  type InformerDeps,
  type ReadContexts,
} from "./informers.ts";

export function clusterCaches(
  deps: InformerDeps,
  contexts: ReadContexts,
  offerOf: Offers,
): ReadCaches {
  const { objects, namespaces } = createInformers(deps, contexts, undefined);
  const cacheOf = (context: ReadContext): KindCache[] => {
    const { kind } = context.kind;
    const informer = objects.get(kind);
    if (!informer) return [];
    const { store } = informer;
    const clusterState = {
      kind,
      offerOf,
      get list() {
        return deps.listState(kind);
      },
      get namespaces() {
        return namespaces.store.inNamespace("");
      },
      objectsIn: (namespace: string) => store.inNamespace(namespace),
      get sources() {
        return store.byIndex(ROLE, "source");
      },
      get pulls() {
        return store.byIndex(ROLE, "pull");
      },
    };
    return [
      { kind, objects: informer, clusterState, written: writtenCache(context, () => informer) },
    ];
  };
  return {
    kinds: contexts.flatMap(cacheOf),
    namespaces,
    writtenNamespaces: writtenNamespaces(() => namespaces),
    unreadable: () => [],
  };
}
