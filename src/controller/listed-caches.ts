// The caches of listed namespaces: two watches each, so that rights in each are enough.
// Promises: a namespace is in the world only with its Secrets, all of them as of some moment, and only
// while the API server shows both. One that is not there, or is answered by 403, keeps nobody waiting;
// it takes part as soon as it can be read.
import type { Namespace, CachedObject } from "../core/model/cluster.ts";
import type { ReadContext } from "../core/observed/read-object.ts";
import {
  cacheOf,
  createInformerPair,
  ROLE,
  type InformerPairDeps,
  type InformerPair,
} from "./informer-pair.ts";
import type { Informer } from "../kube/cache/informer.ts";
import { InformerGroup } from "../kube/cache/informer-group.ts";
import type { Store } from "../kube/cache/store.ts";
import type { Log } from "../telemetry/log.ts";
import type { Caches, Offers } from "./cluster-caches.ts";

const NONE: ReadonlyMap<string, CachedObject> = new Map<string, CachedObject>();

export function createListedCaches(
  listed: ReadonlySet<string>,
  deps: InformerPairDeps,
  context: ReadContext,
  offerOf: Offers,
): Caches {
  const pairs = new Map(
    Array.from(listed, (name) => [name, createInformerPair(deps, context, name)] as const),
  );
  const all = [...pairs.values()];
  const readable = (): readonly InformerPair[] => all.filter((pair) => !isDenied(pair));
  for (const [namespace, pair] of pairs) tellAccess(namespace, pair, deps.log);
  const store = (namespace: string): Store<CachedObject> | undefined =>
    pairs.get(namespace)?.secrets.store;
  const ofRole = (role: string): Iterable<CachedObject> =>
    readable().flatMap(({ secrets }) => [...secrets.store.byIndex(ROLE, role)]);
  return {
    secrets: new InformerGroup(
      all.map(({ secrets, namespaces }) => ({
        informer: secrets,
        spared: () => Promise.race([notThere(namespaces), denied(secrets), denied(namespaces)]),
      })),
    ),
    namespaces: new NamespaceGroup(all),
    cache: cacheOf(
      (namespace) => pairs.get(namespace)?.secrets,
      (namespace) => pairs.get(namespace)?.namespaces,
      context,
    ),
    get: ({ namespace, name }) => store(namespace)?.get(namespace, name),
    unreadable: () => Array.from(pairs).flatMap(([name, pair]) => (isDenied(pair) ? [name] : [])),
    world: {
      offerOf,
      isUnreadable: (namespace) => {
        const pair = pairs.get(namespace);
        return pair !== undefined && isDenied(pair);
      },
      get namespaces() {
        const filled = readable().filter(({ secrets }) => secrets.hasSynced);
        return new Map(filled.flatMap((pair) => [...entries(pair)]));
      },
      objectsIn: (namespace) => store(namespace)?.inNamespace(namespace) ?? NONE,
      get sources() {
        return ofRole("source");
      },
      get pulls() {
        return ofRole("pull");
      },
    },
  };
}

const entries = ({ namespaces }: InformerPair): Iterable<[string, Namespace]> =>
  namespaces.store.inNamespace("").entries();

const isDenied = ({ secrets, namespaces }: InformerPair): boolean =>
  secrets.access.denied || namespaces.access.denied;

/** Resolves if the API server does not let it list and watch. */
function denied({ access }: Pick<Informer<never>, "access">): Promise<void> {
  return new Promise((resolve) => {
    if (access.denied) resolve();
    else access.onChange((is) => is && resolve());
  });
}

/** One line each time that `namespace` can no longer be read, or can again. */
function tellAccess(namespace: string, pair: InformerPair, log: Log): void {
  let told = false;
  const changed = (): void => {
    const is = isDenied(pair);
    if (is === told) return;
    told = is;
    if (is)
      log.warn(
        { namespace },
        "namespace cannot be read (403): its copies and those of its sources stay as they are",
      );
    else log.info({ namespace }, "namespace can be read again");
  };
  pair.secrets.access.onChange(changed);
  pair.namespaces.access.onChange(changed);
}

/** Resolves if its informer finds that the namespace is not there. */
async function notThere(namespaces: Informer<Namespace>): Promise<void> {
  if ((await namespaces.waitForSync()) && namespaces.store.size === 0) return;
  await new Promise(() => {});
}

/**
 * As a namespace is in the world only with its Secrets, and while both can be read, its handlers hear
 * of it again when that changes.
 */
class NamespaceGroup extends InformerGroup<Namespace> {
  readonly #pairs: readonly InformerPair[];

  constructor(pairs: readonly InformerPair[]) {
    super(
      pairs.map(({ secrets, namespaces }) => ({
        informer: namespaces,
        spared: () => Promise.race([denied(secrets), denied(namespaces)]),
      })),
    );
    this.#pairs = pairs;
  }

  override addHandler(handler: Parameters<Informer<Namespace>["addHandler"]>[0]) {
    for (const pair of this.#pairs) {
      const tell = (): void => {
        for (const [, namespace] of entries(pair)) handler.add?.(namespace, true, false);
      };
      void pair.secrets.waitForSync().then((synced) => synced && tell());
      for (const { access } of [pair.secrets, pair.namespaces]) access.onChange(tell);
    }
    return super.addHandler(handler);
  }
}
