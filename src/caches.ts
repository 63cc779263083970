// The caches that the planner reads: of the whole cluster by one watch a resource, or of listed
// namespaces by two watches each (the Namespace by its name, its Secrets), so that rights in each are
// enough. Promises: a namespace is in the world only with its Secrets, all of them as of some moment.
// A listed namespace that is not there keeps nobody waiting; it takes part once it is there.
import { readNamespace } from "./core/namespaces.ts";
import type { Namespace, Ref, Secret, World } from "./core/model.ts";
import { readSecret, type ReadContext } from "./core/secrets.ts";
import type { ApiClient } from "./kube/client.ts";
import type { Clock } from "./kube/clock.ts";
import { Informer } from "./kube/informer.ts";
import { InformerGroup, type Watched } from "./kube/informer-group.ts";
import { NAMESPACES, SECRETS } from "./kube/resource.ts";
import type { Store } from "./kube/store.ts";
import type { Log } from "./log.ts";
import type { Cache } from "./outcome.ts";
import type { Metrics } from "./server/metrics.ts";

export type Caches = {
  readonly secrets: Watched<Secret>;
  readonly namespaces: Watched<Namespace>;
  readonly world: World;
  /** Where the answers of our own writes go. */
  readonly cache: Cache;
  get(place: Ref): Secret | undefined;
};

type Deps = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
};
type Pair = {
  readonly secrets: Informer<Secret>;
  readonly namespaces: Informer<Namespace>;
};

// The bulk of the Secrets of many clusters, never a source and never in the way of a copy that we
// could make: their names begin with sh.helm.release.v1.
const WITHOUT_HELM_RELEASES = "type!=helm.sh/release.v1";
const ROLE = "role";
const NONE: ReadonlyMap<string, Secret> = new Map<string, Secret>();

/** `listed`: the only namespaces to read; undefined: all. */
export function createCaches(
  listed: ReadonlySet<string> | undefined,
  deps: Deps,
  context: ReadContext,
): Caches {
  return listed ? listedCaches(listed, deps, context) : clusterCaches(deps, context);
}

function clusterCaches(deps: Deps, context: ReadContext): Caches {
  const { secrets, namespaces } = createPair(deps, context, undefined);
  const { store } = secrets;
  return {
    secrets,
    namespaces,
    cache: cacheOf(() => store, context),
    get: ({ namespace, name }) => store.get(namespace, name),
    world: {
      get namespaces() {
        return namespaces.store.inNamespace("");
      },
      secretsIn: (namespace) => store.inNamespace(namespace),
      get sources() {
        return store.byIndex(ROLE, "source");
      },
      get pulls() {
        return store.byIndex(ROLE, "pull");
      },
    },
  };
}

function listedCaches(listed: ReadonlySet<string>, deps: Deps, context: ReadContext): Caches {
  const pairs = new Map(
    Array.from(listed, (name) => [name, createPair(deps, context, name)] as const),
  );
  const all = [...pairs.values()];
  const store = (namespace: string): Store<Secret> | undefined =>
    pairs.get(namespace)?.secrets.store;
  const ofRole = (role: string): Iterable<Secret> =>
    all.flatMap(({ secrets }) => [...secrets.store.byIndex(ROLE, role)]);
  return {
    secrets: new InformerGroup(
      all.map(({ secrets, namespaces }) => ({
        informer: secrets,
        spared: () => notThere(namespaces),
      })),
    ),
    namespaces: new NamespaceGroup(all),
    cache: cacheOf(store, context),
    get: ({ namespace, name }) => store(namespace)?.get(namespace, name),
    world: {
      get namespaces() {
        return new Map(all.flatMap((pair) => (pair.secrets.hasSynced ? [...entries(pair)] : [])));
      },
      secretsIn: (namespace) => store(namespace)?.inNamespace(namespace) ?? NONE,
      get sources() {
        return ofRole("source");
      },
      get pulls() {
        return ofRole("pull");
      },
    },
  };
}

const entries = ({ namespaces }: Pair): Iterable<[string, Namespace]> =>
  namespaces.store.inNamespace("").entries();

/** Resolves if its informer finds that the namespace is not there. */
async function notThere(namespaces: Informer<Namespace>): Promise<void> {
  if ((await namespaces.waitForSync()) && namespaces.store.size === 0) return;
  await new Promise(() => {});
}

/** As a namespace enters the world only with its Secrets, its handlers hear of it again then. */
class NamespaceGroup extends InformerGroup<Namespace> {
  readonly #pairs: readonly Pair[];

  constructor(pairs: readonly Pair[]) {
    super(pairs.map(({ namespaces }) => ({ informer: namespaces })));
    this.#pairs = pairs;
  }

  override addHandler(handler: Parameters<Informer<Namespace>["addHandler"]>[0]) {
    for (const pair of this.#pairs)
      void pair.secrets.waitForSync().then((synced) => {
        if (synced)
          for (const [, namespace] of entries(pair)) handler.add?.(namespace, true, false);
      });
    return super.addHandler(handler);
  }
}

/** Of one namespace, or of all. */
function createPair(deps: Deps, context: ReadContext, only: string | undefined): Pair {
  const { client, clock, metrics, log } = deps;
  const onError = (resource: string) => (error: Error) =>
    log.warn({ resource, error: error.message }, "list or watch failed, will try again");
  const secrets = new Informer<Secret>({
    client,
    resource: SECRETS,
    namespace: only,
    fieldSelector: WITHOUT_HELM_RELEASES,
    transform: (raw) => readSecret(raw, context),
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

function cacheOf(
  storeOf: (namespace: string) => Store<Secret> | undefined,
  context: ReadContext,
): Cache {
  return {
    remember: (raw) => {
      const secret = readSecret(raw, context);
      if (secret) storeOf(secret.namespace)?.remember(secret);
    },
    forget: (namespace, name, uid) => storeOf(namespace)?.forget(namespace, name, uid),
  };
}
