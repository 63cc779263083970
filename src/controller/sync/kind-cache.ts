// What cluster caches and listed caches have in common.
import type { ObjectKind } from "../model/kinds.ts";
import type { Namespace, CachedObject, ClusterState } from "../model/cluster.ts";
import type { Watched } from "../../kube/cache/informer-group.ts";
import type { WrittenCache, WrittenCaches } from "../writes/outcome.ts";

/** What is read of the objects of one kind. */
export type KindCache = {
  readonly kind: ObjectKind;
  readonly objects: Watched<CachedObject>;
  readonly clusterState: ClusterState;
  /** Receives the answers of our own writes. */
  readonly written: WrittenCache;
  readonly names: NameAccess;
};

/** Which of the names of --only-names the API server denies somewhere. */
export type NameAccess = {
  readonly denied: ReadonlySet<string>;
  /** Calls `listener` at each change. */
  onChange(listener: () => void): void;
};

/** The result of either implementation. */
export type ReadCaches = {
  readonly kinds: readonly KindCache[];
  readonly namespaces: Watched<Namespace>;
  readonly writtenNamespaces: Omit<WrittenCaches, "of">;
  /** Listed namespaces in which the API server denies a read. */
  unreadable(): readonly string[];
};

export type Offers = ClusterState["offerOf"];
