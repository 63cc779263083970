// What the caches of a cluster and those of listed namespaces have in common.
import type { ObjectKind } from "../model/kinds.ts";
import type { Namespace, CachedObject, ClusterState } from "../model/cluster.ts";
import type { Watched } from "../../kube/cache/informer-group.ts";
import type { WrittenCache, WrittenCaches } from "../writes/outcome.ts";

/** What is read of the objects of one kind. */
export type KindCache = {
  readonly kind: ObjectKind;
  readonly objects: Watched<CachedObject>;
  readonly clusterState: ClusterState;
  /** Where the answers of our own writes go. */
  readonly written: WrittenCache;
};

/** As one of them makes it. */
export type ReadCaches = {
  readonly kinds: readonly KindCache[];
  readonly namespaces: Watched<Namespace>;
  readonly writtenNamespaces: Omit<WrittenCaches, "of">;
  /** Listed namespaces of which the API server does not let us read something. */
  unreadable(): readonly string[];
};

export type Offers = ClusterState["offerOf"];
