// The caches that the planner reads: of the whole cluster by one watch a resource, or of listed
// namespaces (listed-caches.ts).
import { digestData } from "../core/model/secret-data.ts";
import type { DataCache } from "../core/state/data-cache.ts";
import { filterKeys, type KeyFilter } from "../core/annotations/key-filter.ts";
import type { SourceObject } from "../core/model/cluster.ts";
import type { ReadContext } from "../core/observed/read-object.ts";
import { type InformerPairDeps } from "./informer-pair.ts";
import { createListedCaches } from "./listed-caches.ts";
import { type Caches, clusterCaches } from "./cluster-caches.ts";

/** `listed`: the only namespaces to read; undefined: all. */
export function createCaches(
  listed: ReadonlySet<string> | undefined,
  deps: InformerPairDeps,
  context: ReadContext,
  data: DataCache,
): Caches {
  const offerOf = (source: SourceObject, keys: KeyFilter): string | undefined => {
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
