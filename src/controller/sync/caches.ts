// The caches that the planner reads, for each kind that takes part: scopes × names. A scope is the whole cluster, or
// one of the listed namespaces (scopes.ts). In each, all objects have one watch, or with --only-names each name has
// its own (named-objects.ts).
import type { CachedObject, ClusterState, ListState, Namespace } from "../model/cluster.ts";
import { isWatched, KINDS, type ObjectKind } from "../model/kinds.ts";
import { pullableDigest } from "../model/secret-data.ts";
import { objectOf } from "../model/unstructured.ts";
import { readNamespace } from "../observed/read-namespace.ts";
import { readObject } from "../observed/read-object.ts";
import type { ReadContext } from "../observed/read-context.ts";
import type { DataCache } from "../state/data-cache.ts";
import type { Informer } from "../../../packages/kube/cache/informer.ts";
import { InformerGroup, type Watched } from "../../../packages/kube/cache/informer-group.ts";
import { NAMESPACES } from "../../../packages/kube/rest/resource.ts";
import type { WrittenCache, WrittenCaches } from "../writes/outcome.ts";
import { namespaceInformer, objectWatch, ROLE, type InformerDeps } from "./informers.ts";
import { KindScope, NamespaceGroup, namespaceReads } from "./scopes.ts";

/** A watch, whatever it shows. */
export type AnyWatch = Omit<Watched<never>, "addHandler">;

/** A name of --only-names. */
export type DeniedName = { readonly kind: ObjectKind; readonly name: string };

/** What is read of the objects of one kind. */
type KindCache = {
  readonly kind: ObjectKind;
  readonly objects: Watched<CachedObject>;
  readonly clusterState: ClusterState;
  /** Receives the answers of our own writes. */
  readonly written: WrittenCache;
  /** All objects that it shows. */
  readonly list: () => readonly CachedObject[];
};

export type Caches = {
  readonly kinds: readonly KindCache[];
  readonly namespaces: Watched<Namespace>;
  /** By resource. */
  readonly watches: Readonly<Record<string, AnyWatch>>;
  readonly written: WrittenCaches;
  /** Listed namespaces in which the API server denies a read. */
  unreadable(): readonly string[];
  /** Names of --only-names that the API server denies for a kind, or in a namespace. */
  deniedNames(): readonly DeniedName[];
  /** Calls `listener` when a name of --only-names may be read, or may no longer. */
  onNamesChange(listener: () => void): void;
};

type CacheDeps = InformerDeps & {
  /** What is known of the source list. */
  readonly listState: (kind: ObjectKind) => ListState;
  readonly data: DataCache;
};

const NO_OBJECTS: ReadonlyMap<string, CachedObject> = new Map<string, CachedObject>();
const NO_NAMES: ReadonlySet<string> = new Set();

/** `listed`: the only namespaces to read. Undefined means all. `contexts`: how the objects of each kind are read. */
export function createCaches(
  listed: ReadonlySet<string> | undefined,
  contexts: readonly ReadContext[],
  deps: CacheDeps,
): Caches {
  const onReads = namespaceReads(deps.log);
  const informers = new Map(
    [...(listed ?? [undefined])].map((name) => [name, namespaceInformer(deps, name, onReads)]),
  );
  const ofKinds = contexts.map((context) => ({
    context,
    scopes: Array.from(
      informers,
      ([name, namespaces]) => new KindScope(name, objectWatch(deps, context, name), namespaces),
    ),
  }));
  const scopes = ofKinds.flatMap((each) => each.scopes);
  const namespaces = new NamespaceGroup([...informers.values()], scopes);
  const kinds = ofKinds.map((each) => kindCache(each.context, each.scopes, deps));
  const written = new Map(kinds.map((each) => [each.kind, each.written]));
  const watches = kinds.map(({ kind, objects }) => [KINDS[kind].resource.plural, objects]);
  return {
    kinds,
    namespaces,
    watches: Object.fromEntries([...watches, [NAMESPACES.plural, namespaces]]),
    written: {
      of: (kind) => {
        const cache = written.get(kind);
        if (!cache) throw new Error(`Cannot keep a ${kind}: this kind does not take part`);
        return cache;
      },
      ...writtenNamespaces((name) => informers.get(listed && name)),
    },
    unreadable: () => {
      const denied = scopes.flatMap(({ isDenied, namespace }) =>
        isDenied && namespace !== undefined ? [namespace] : [],
      );
      return [...new Set(denied)];
    },
    deniedNames: () =>
      ofKinds.flatMap(({ context: { kind }, scopes }) => {
        // An unreadable namespace counts as a namespace.
        const readable = scopes.filter(({ isDenied }) => !isDenied);
        const names = readable.flatMap(({ objects: { deniedNames = NO_NAMES } }) => [
          ...deniedNames,
        ]);
        return Array.from(new Set(names), (name) => ({ kind: kind.kind, name }));
      }),
    onNamesChange: (listener) => {
      for (const { objects } of scopes) if (objects.deniedNames) objects.access.onChange(listener);
    },
  };
}

function kindCache(
  context: ReadContext,
  scopes: readonly KindScope[],
  { data, listState, log }: CacheDeps,
): KindCache {
  const { kind } = context.kind;
  const byName = new Map(scopes.map((scope) => [scope.namespace, scope]));
  const whole = byName.get(undefined);
  const scopeOf = (namespace: string): KindScope | undefined => whole ?? byName.get(namespace);
  const readable = (): readonly KindScope[] => scopes.filter(({ isDenied }) => !isDenied);
  const ofRole = (role: string): Iterable<CachedObject> =>
    readable().flatMap(({ objects }) => [...objects.store.byIndex(ROLE, role)]);
  const objects = new InformerGroup(
    scopes.map((scope) => ({ informer: scope.objects, notNeeded: () => scope.notNeeded() })),
  );
  for (const scope of scopes) scope.logAccess(kind, log);
  // Data of deleted sources must not evict data of existing ones.
  objects.addHandler({
    delete: ({ role, uid }) => {
      if (role === "source") data.forget(uid);
    },
  });
  return {
    kind,
    objects,
    written: writtenCache(context, (namespace) => scopeOf(namespace)?.objects),
    list: () => scopes.flatMap(({ objects }) => [...objects.store.list()]),
    clusterState: {
      kind,
      pullableDigestOf: (source, keys) =>
        pullableDigest(context.digest, data.get(source)?.data, keys),
      get list() {
        return listState(kind);
      },
      isUnreadable: (namespace) => scopeOf(namespace)?.isDenied === true,
      unreadableNames: (namespace) => scopeOf(namespace)?.objects.deniedNames ?? NO_NAMES,
      get namespaces() {
        const filled = readable().filter(({ objects }) => objects.hasSynced);
        if (whole && filled.includes(whole)) return whole.entries;
        return new Map(filled.flatMap(({ entries }) => [...entries]));
      },
      objectsIn: (namespace) =>
        scopeOf(namespace)?.objects.store.inNamespace(namespace) ?? NO_OBJECTS,
      get sources() {
        return ofRole("source");
      },
      get pulls() {
        return ofRole("pull");
      },
    },
  };
}

/** Writes the answers of our own requests to the informer of their namespace. */
function writtenCache(
  context: ReadContext,
  objectsIn: (namespace: string) => KindScope["objects"] | undefined,
): WrittenCache {
  const read = (raw: unknown): CachedObject | undefined =>
    isWatched(context.kind, objectOf(raw)) ? readObject(raw, context) : undefined;
  return {
    get: ({ namespace, name }) => objectsIn(namespace)?.store.get(namespace, name),
    remember: (raw) => {
      const object = read(raw);
      if (object) objectsIn(object.namespace)?.store.recordReading(object);
      return object;
    },
    read,
    forget: (namespace, name, uid) =>
      objectsIn(namespace)?.store.recordDelete(namespace, name, uid),
  };
}

/** As writtenCache, for Namespaces. */
function writtenNamespaces(
  informerOf: (namespace: string) => Informer<Namespace> | undefined,
): Omit<WrittenCaches, "of"> {
  return {
    namespace: (name) => informerOf(name)?.store.get(undefined, name),
    rememberNamespace: (raw) => {
      const namespace = readNamespace(raw);
      if (namespace) informerOf(namespace.name)?.store.recordWrite(namespace);
    },
    namespaceRefused: (name) => informerOf(name)?.readSoon(),
    forgetNamespace: (name, uid) => informerOf(name)?.store.recordDelete(undefined, name, uid),
  };
}
