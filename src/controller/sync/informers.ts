// The informers of a cluster or of one namespace. They read Namespaces and objects of each kind that takes
// part.
import { readNamespace } from "../observed/read-namespace.ts";
import type { Namespace, CachedObject, ClusterState, ListState } from "../model/cluster.ts";
import type { ReadContext } from "../observed/read-context.ts";
import { readObject } from "../observed/read-object.ts";
import { isWatched, type ObjectKind } from "../model/kinds.ts";
import { objectOf } from "../model/unstructured.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { Informer, type InformerOptions } from "../../../packages/kube/cache/informer.ts";
import type { Watched } from "../../../packages/kube/cache/informer-group.ts";
import { ObjectTable, type SharedTable } from "../../../packages/kube/store/object-table.ts";
import type { Stored } from "../../../packages/kube/store/stored.ts";
import { NAMESPACES } from "../../../packages/kube/rest/resource.ts";
import type { Log } from "../report/log.ts";
import { failureLines, type FailureLines } from "../report/failure-lines.ts";
import type { WrittenCache, WrittenCaches } from "../writes/outcome.ts";
import type { Metrics } from "../report/metrics.ts";
import { NamedObjects, type ObjectWatch } from "./named-objects.ts";

export type InformerDeps = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Log lines of lists and watches. */
  readonly lines: FailureLines;
  /** The only object names to read. Undefined means all names. */
  readonly onlyNames: ReadonlySet<string> | undefined;
  /** What is known of the source list. */
  readonly listState: (kind: ObjectKind) => ListState;
  /** Called at each change of what a cache of objects shows. Undefined if nobody follows it. */
  readonly onShown?: ShownListener | undefined;
  /** Called when one Namespace is read by GET from now on, or watched again. */
  readonly onNamespaceReads?: (active: boolean) => void;
};

/** `old` and `now`: what the cache of `kind` showed at one place before, and what it shows now. */
export type ShownListener = (
  kind: ObjectKind,
  old: CachedObject | undefined,
  now: CachedObject | undefined,
) => void;

/** How the objects of each kind that takes part are read. */
export type ReadContexts = readonly ReadContext[];

export type Informers = {
  readonly namespaces: Informer<Namespace>;
  readonly objects: ReadonlyMap<ObjectKind, ObjectWatch>;
};

/** What is read of the objects of one kind. */
export type KindCache = {
  readonly kind: ObjectKind;
  readonly objects: Watched<CachedObject>;
  readonly clusterState: ClusterState;
  /** Receives the answers of our own writes. */
  readonly written: WrittenCache;
  readonly names: NameAccess;
  /** All objects that it shows. */
  readonly list: () => readonly CachedObject[];
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

export type PullableDigests = ClusterState["pullableDigestOf"];

export const ROLE = "role";

/** Logs failures of a resource's list or watch, with a limit per minute, and one line at their end. */
export const watchLines = (log: Log, clock: Clock): FailureLines =>
  failureLines(log, clock, "list or watch failed, will try again");

/** The hooks of one informer. */
export function failureHooks(
  lines: FailureLines,
  resource: string,
): Required<Pick<InformerOptions<Stored>, "onError" | "onConnected">> {
  const { failed, worked } = lines.of(resource, { resource });
  return { onError: failed, onConnected: worked };
}

/** `only`: the one namespace to read. Undefined means all namespaces. */
export function createInformers(
  deps: InformerDeps,
  contexts: ReadContexts,
  only: string | undefined,
): Informers {
  const { client, clock, metrics, lines } = deps;
  const objectsOf = (context: ReadContext): ObjectWatch => {
    const { resource, fieldSelector, kind } = context.kind;
    const { plural } = resource;
    const { onShown } = deps;
    const informerOf = (shared?: SharedTable<CachedObject>): Informer<CachedObject> => {
      const informer = new Informer<CachedObject>({
        client,
        resource,
        namespace: only,
        fieldSelector,
        shared,
        transform: (raw) => readObject(raw, context),
        clock,
        metrics: metrics.watch(plural),
        ...failureHooks(lines, plural),
      });
      const shown =
        onShown && ((old?: CachedObject, now?: CachedObject) => onShown(kind, old, now));
      informer.store.listen({ shown });
      return informer;
    };
    if (!deps.onlyNames) {
      const objects = informerOf();
      objects.store.addIndex(ROLE, rolesOf);
      return objects;
    }
    const table = new ObjectTable<CachedObject>();
    table.addIndex(ROLE, rolesOf);
    const named = Array.from(
      deps.onlyNames,
      (name) => [name, informerOf({ table, name })] as const,
    );
    return new NamedObjects(new Map(named), table, { kind, namespace: only, clock, log: deps.log });
  };
  const namespaces = new Informer<Namespace>({
    client,
    resource: NAMESPACES,
    // A Role that names only this Namespace allows this list and watch.
    fieldSelector: only === undefined ? undefined : `metadata.name=${only}`,
    transform: (raw) => readNamespace(raw),
    clock,
    metrics: metrics.watch(NAMESPACES.plural),
    single: only === undefined ? undefined : { name: only, onReads: deps.onNamespaceReads },
    ...failureHooks(lines, NAMESPACES.plural),
  });
  const objects = new Map(
    contexts.map((context) => [context.kind.kind, objectsOf(context)] as const),
  );
  return { objects, namespaces };
}

const rolesOf = ({ role }: CachedObject): readonly string[] =>
  role === "source" || role === "pull" ? [role] : [];

export const NO_NAMES: ReadonlySet<string> = new Set();

/** What the watches of one kind know of names that are denied. `counts`: whether those of a watch count. */
export function nameAccess(
  watches: readonly ObjectWatch[],
  counts: (watch: ObjectWatch) => boolean = () => true,
): NameAccess {
  return {
    get denied() {
      const names = watches
        .filter(counts)
        .flatMap(({ deniedNames = NO_NAMES }) => [...deniedNames]);
      return new Set(names);
    },
    onChange: (listener) => {
      for (const { access, deniedNames } of watches) if (deniedNames) access.onChange(listener);
    },
  };
}

/** Writes the answers of our own requests to the informer of their namespace. */
export function writtenCache(
  context: ReadContext,
  objectsIn: (namespace: string) => ObjectWatch | undefined,
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
export function writtenNamespaces(
  namespaced: (namespace: string) => Informer<Namespace> | undefined,
) {
  return {
    namespace: (name: string): Namespace | undefined =>
      namespaced(name)?.store.get(undefined, name),
    rememberNamespace: (raw: unknown): void => {
      const namespace = readNamespace(raw);
      if (namespace) namespaced(namespace.name)?.store.recordWrite(namespace);
    },
    namespaceRefused: (name: string): void => namespaced(name)?.readSoon(),
    forgetNamespace: (name: string, uid: string): void =>
      namespaced(name)?.store.recordDelete(undefined, name, uid),
  };
}
