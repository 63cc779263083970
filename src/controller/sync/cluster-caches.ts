// The caches of a whole cluster: one watch per resource, or with --only-names one per name.
import type { CachedObject } from "../model/cluster.ts";
import type { ReadContext } from "../observed/read-context.ts";
import {
  createInformers,
  nameAccess,
  NO_NAMES,
  ROLE,
  writtenCache,
  writtenNamespaces,
  type InformerDeps,
  type ReadContexts,
  type KindCache,
  type PullableDigests,
  type ReadCaches,
} from "./informers.ts";

export function clusterCaches(
  deps: InformerDeps,
  contexts: ReadContexts,
  pullableDigestOf: PullableDigests,
): ReadCaches {
  const { objects, namespaces } = createInformers(deps, contexts, undefined);
  const cacheOf = (context: ReadContext): KindCache[] => {
    const { kind } = context.kind;
    const informer = objects.get(kind);
    if (!informer) return [];
    const { store } = informer;
    const clusterState = {
      kind,
      pullableDigestOf,
      get list() {
        return deps.listState(kind);
      },
      get namespaces() {
        return namespaces.store.inNamespace("");
      },
      objectsIn: (namespace: string) => store.inNamespace(namespace),
      unreadableNames: () => informer.deniedNames ?? NO_NAMES,
      get sources() {
        return store.byIndex(ROLE, "source");
      },
      get pulls() {
        return store.byIndex(ROLE, "pull");
      },
    };
    const written = writtenCache(context, () => informer);
    const names = nameAccess([informer]);
    const list = (): readonly CachedObject[] => store.list();
    return [{ kind, objects: informer, clusterState, written, names, list }];
  };
  return {
    kinds: contexts.flatMap(cacheOf),
    namespaces,
    writtenNamespaces: writtenNamespaces(() => namespaces),
    unreadable: () => [],
  };
}
