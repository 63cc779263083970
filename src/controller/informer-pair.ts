// The two informers that read a cluster, or one namespace of it: its Namespace and its Secrets.
import { readNamespace } from "../core/observed/read-namespace.ts";
import type { Namespace, CachedObject } from "../core/model/cluster.ts";
import { readObject, type ReadContext } from "../core/observed/read-object.ts";
import type { ApiClient } from "../kube/rest/client.ts";
import type { Clock } from "../kube/time/clock.ts";
import { Informer } from "../kube/cache/informer.ts";
import { NAMESPACES, SECRETS } from "../kube/rest/resource.ts";
import type { Log } from "../telemetry/log.ts";
import { Repeats } from "../telemetry/repeats.ts";
import type { WrittenCache } from "../writes/outcome.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export type InformerPairDeps = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
};
export type InformerPair = {
  readonly secrets: Informer<CachedObject>;
  readonly namespaces: Informer<Namespace>;
};

// The bulk of the Secrets of many clusters, never a source and never in the way of a copy that we
// could make: their names begin with sh.helm.release.v1.
const WITHOUT_HELM_RELEASES = "type!=helm.sh/release.v1";
export const ROLE = "role";

/** Lines of one watch that fails again and again, in any minute; the rest are counted. */
const MOST_LINES = 3;

/** Of one namespace, or of all. */
export function createInformerPair(
  deps: InformerPairDeps,
  context: ReadContext,
  only: string | undefined,
): InformerPair {
  const { client, clock, metrics, log } = deps;
  const failures = new Repeats(MOST_LINES);
  const onError = (resource: string) => (error: Error) => {
    const count = failures.happened(resource, clock.monotonic());
    if (count === undefined) return;
    log.warn({ resource, error: error.message, count }, "list or watch failed, will try again");
  };
  const secrets = new Informer<CachedObject>({
    client,
    resource: SECRETS,
    namespace: only,
    fieldSelector: WITHOUT_HELM_RELEASES,
    transform: (raw) => readObject(raw, context),
    clock,
    metrics: metrics.watch("secrets"),
    onError: onError("secrets"),
  });
  secrets.store.addIndex(ROLE, ({ role }) => (role === "source" || role === "pull" ? [role] : []));
  const namespaces = new Informer<Namespace>({
    client,
    resource: NAMESPACES,
    // What a right on the one name allows to list and watch.
    fieldSelector: only === undefined ? undefined : `metadata.name=${only}`,
    transform: (raw) => readNamespace(raw),
    clock,
    metrics: metrics.watch("namespaces"),
    onError: onError("namespaces"),
  });
  return { secrets, namespaces };
}

/** Where the answers of our own requests go, to the informers of their namespace. */
export function cacheOf(
  secretsIn: (namespace: string) => Informer<CachedObject> | undefined,
  namespaced: (namespace: string) => Informer<Namespace> | undefined,
  context: ReadContext,
): WrittenCache {
  return {
    get: ({ namespace, name }) => secretsIn(namespace)?.store.get(namespace, name),
    remember: (raw) => {
      const secret = readObject(raw, context);
      if (secret) secretsIn(secret.namespace)?.store.recordWrite(secret);
      return secret;
    },
    isCopy: (raw) => readObject(raw, context)?.role === "copy",
    rememberNamespace: (raw) => {
      const namespace = readNamespace(raw);
      if (namespace) namespaced(namespace.name)?.store.recordWrite(namespace);
    },
    forget: (namespace, name, uid) =>
      secretsIn(namespace)?.store.recordDelete(namespace, name, uid),
    forgetNamespace: (name, uid) => namespaced(name)?.store.recordDelete(undefined, name, uid),
  };
}
