// The caches that the planner reads. They cover the whole cluster with one watch per resource
// (cluster-caches.ts), or listed namespaces (listed-caches.ts).
import { KINDS, type ObjectKind } from "../model/kinds.ts";
import type { DataCache } from "../state/data-cache.ts";
import { pullableDigest } from "../model/secret-data.ts";
import type { Watched } from "../../../packages/kube/cache/informer-group.ts";
import { NAMESPACES } from "../../../packages/kube/rest/resource.ts";
import type { WrittenCache, WrittenCaches } from "../writes/outcome.ts";
import type { InformerDeps, ReadContexts, PullableDigests, ReadCaches } from "./informers.ts";
import { createListedCaches } from "./listed-caches.ts";
import { clusterCaches } from "./cluster-caches.ts";

/** A watch, whatever it shows. */
export type AnyWatch = Omit<Watched<never>, "addHandler">;

/** A name of --only-names. */
export type DeniedName = { readonly kind: ObjectKind; readonly name: string };

export type Caches = ReadCaches & {
  /** By resource. */
  readonly watches: Readonly<Record<string, AnyWatch>>;
  readonly written: WrittenCaches;
  /** Names of --only-names that the API server denies for a kind, or in a namespace. */
  deniedNames(): readonly DeniedName[];
};

/** `listed`: the only namespaces to read. Undefined means all namespaces. */
export function createCaches(
  listed: ReadonlySet<string> | undefined,
  deps: InformerDeps,
  contexts: ReadContexts,
  data: DataCache,
): Caches {
  const [first] = contexts;
  const pullableDigestOf: PullableDigests = (source, keys) =>
    first && pullableDigest(first.digest, data.get(source)?.data, keys);
  const caches = listed
    ? createListedCaches(listed, deps, contexts, pullableDigestOf)
    : clusterCaches(deps, contexts, pullableDigestOf);
  // Data of deleted sources must not evict data of existing ones.
  for (const { objects } of caches.kinds)
    objects.addHandler({
      delete: ({ role, uid }) => {
        if (role === "source") data.forget(uid);
      },
    });
  const written = new Map(caches.kinds.map((each) => [each.kind, each.written]));
  const of = (kind: ObjectKind): WrittenCache => {
    const cache = written.get(kind);
    if (!cache) throw new Error(`Cannot keep a ${kind}: this kind does not take part`);
    return cache;
  };
  const watches = caches.kinds.map(({ kind, objects }) => [KINDS[kind].resource.plural, objects]);
  return {
    ...caches,
    watches: Object.fromEntries([...watches, [NAMESPACES.plural, caches.namespaces]]),
    written: { of, ...caches.writtenNamespaces },
    deniedNames: () =>
      caches.kinds.flatMap(({ kind, names }) =>
        Array.from(new Set(names.denied), (name) => ({ kind, name })),
      ),
  };
}
