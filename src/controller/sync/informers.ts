// The informers of a cluster or of one namespace. They read Namespaces and objects of each kind that takes
// part.
import { readNamespace } from "../observed/read-namespace.ts";
import type { Namespace, CachedObject, ListState } from "../model/cluster.ts";
import type { ReadContext } from "../observed/read-context.ts";
import { readObject } from "../observed/read-object.ts";
import { isWatched, type ObjectKind } from "../model/kinds.ts";
import { objectOf } from "../model/unstructured.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import type { Clock } from "../../kube/time/clock.ts";
import { Informer, type InformerOptions } from "../../kube/cache/informer.ts";
import type { Stored } from "../../kube/cache/store.ts";
import { NAMESPACES } from "../../kube/rest/resource.ts";
import type { Log } from "../report/log.ts";
import { FailureLines } from "../report/failure-lines.ts";
import type { WrittenCache } from "../writes/outcome.ts";
import type { Metrics } from "../report/metrics.ts";

export type InformerDeps = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Log lines of lists and watches. */
  readonly lines: FailureLines;
  /** What is known of the source list. */
  readonly listState: (kind: ObjectKind) => ListState;
  /** Called when one Namespace is read by GET from now on, or watched again. */
  readonly onNamespaceReads?: (active: boolean) => void;
};

/** How the objects of each kind that takes part are read. */
export type ReadContexts = readonly ReadContext[];

export type Informers = {
  readonly namespaces: Informer<Namespace>;
  readonly objects: ReadonlyMap<ObjectKind, Informer<CachedObject>>;
};

export const ROLE = "role";

/** Logs failures of a resource's list or watch, with a limit per minute, and one line at their end. */
export const watchLines = (log: Log, clock: Clock): FailureLines =>
  new FailureLines(log, clock, "list or watch failed, will try again");

/** The hooks of one informer. */
export function toldBy(
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
  const objectsOf = (context: ReadContext): Informer<CachedObject> => {
    const { resource, fieldSelector } = context.kind;
    const { plural } = resource;
    const objects = new Informer<CachedObject>({
      client,
      resource,
      namespace: only,
      fieldSelector,
      transform: (raw) => readObject(raw, context),
      clock,
      metrics: metrics.watch(plural),
      ...toldBy(lines, plural),
    });
    objects.store.addIndex(ROLE, ({ role }) =>
      role === "source" || role === "pull" ? [role] : [],
    );
    return objects;
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
    ...toldBy(lines, NAMESPACES.plural),
  });
  const objects = new Map(
    contexts.map((context) => [context.kind.kind, objectsOf(context)] as const),
  );
  return { objects, namespaces };
}

/** Writes the answers of our own requests to the informer of their namespace. */
export function writtenCache(
  context: ReadContext,
  objectsIn: (namespace: string) => Informer<CachedObject> | undefined,
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
