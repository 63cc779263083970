// The caches of listed namespaces: one watch per resource in each, so that a Role in each is enough.
// Promises: the cluster state of a kind contains a namespace only together with all its objects as of one
// moment. It does so only while the API server shows both. A missing namespace or a 403 delays no other namespace.
// The namespace takes part as soon as it can be read.
import type { Namespace, CachedObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { ReadContext } from "../observed/read-context.ts";
import {
  createInformers,
  nameAccess,
  NO_NAMES,
  ROLE,
  writtenCache,
  writtenNamespaces,
  type InformerDeps,
  type Informers,
  type ReadContexts,
  type KindCache,
  type PullableDigests,
  type ReadCaches,
} from "./informers.ts";
import { whenDenied } from "../../../packages/kube/cache/access.ts";
import type { Informer } from "../../../packages/kube/cache/informer.ts";
import { InformerGroup } from "../../../packages/kube/cache/informer-group.ts";
import type { Log } from "../report/log.ts";
import type { ObjectWatch } from "./named-objects.ts";

const NONE: ReadonlyMap<string, CachedObject> = new Map<string, CachedObject>();

/** The watches of one namespace that a kind needs. */
type Pair = { readonly objects: ObjectWatch; readonly namespaces: Informer<Namespace> };

export function createListedCaches(
  listed: ReadonlySet<string>,
  deps: InformerDeps,
  contexts: ReadContexts,
  pullableDigestOf: PullableDigests,
): ReadCaches {
  const own = { ...deps, onNamespaceReads: namespaceReads(deps.log) };
  const informers = new Map(
    Array.from(listed, (name) => [name, createInformers(own, contexts, name)] as const),
  );
  const all = [...informers.values()];
  return {
    kinds: contexts.map((context) => kindCache(context, informers, deps, pullableDigestOf)),
    namespaces: new NamespaceGroup(all),
    writtenNamespaces: writtenNamespaces((namespace) => informers.get(namespace)?.namespaces),
    unreadable: () =>
      Array.from(informers).flatMap(([name, each]) => (pairsOf(each).some(isDenied) ? [name] : [])),
  };
}

function kindCache(
  context: ReadContext,
  informers: ReadonlyMap<string, Informers>,
  { log, listState }: InformerDeps,
  pullableDigestOf: PullableDigests,
): KindCache {
  const { kind } = context.kind;
  const pairs = new Map(
    Array.from(informers).flatMap(([name, { objects: ofKinds, namespaces }]) => {
      const objects = ofKinds.get(kind);
      return objects ? [[name, { objects, namespaces }] as const] : [];
    }),
  );
  const all = [...pairs.values()];
  const readable = (): readonly Pair[] => all.filter((pair) => !isDenied(pair));
  for (const [namespace, pair] of pairs) logAccess(kind, namespace, pair, log);
  const ofRole = (role: string): Iterable<CachedObject> =>
    readable().flatMap(({ objects }) => [...objects.store.byIndex(ROLE, role)]);
  return {
    kind,
    objects: new InformerGroup(
      all.map(({ objects, namespaces }) => ({
        informer: objects,
        notNeeded: () => Promise.race([notThere(namespaces), denied(objects), denied(namespaces)]),
      })),
    ),
    written: writtenCache(context, (namespace) => pairs.get(namespace)?.objects),
    // An unreadable namespace counts as a namespace.
    names: nameAccess(
      all.map(({ objects }) => objects),
      ({ access }) => !access.denied,
    ),
    list: () => all.flatMap(({ objects }) => [...objects.store.list()]),
    clusterState: {
      kind,
      pullableDigestOf,
      get list() {
        return listState(kind);
      },
      isUnreadable: (namespace) => {
        const pair = pairs.get(namespace);
        return pair !== undefined && isDenied(pair);
      },
      unreadableNames: (namespace) => pairs.get(namespace)?.objects.deniedNames ?? NO_NAMES,
      get namespaces() {
        const filled = readable().filter(({ objects }) => objects.hasSynced);
        return new Map(filled.flatMap((pair) => [...entries(pair)]));
      },
      objectsIn: (namespace) => pairs.get(namespace)?.objects.store.inNamespace(namespace) ?? NONE,
      get sources() {
        return ofRole("source");
      },
      get pulls() {
        return ofRole("pull");
      },
    },
  };
}

function pairsOf({ objects, namespaces }: Informers): readonly Pair[] {
  return Array.from(objects.values(), (each) => ({ objects: each, namespaces }));
}

const entries = ({ namespaces }: Pick<Pair, "namespaces">): Iterable<[string, Namespace]> =>
  namespaces.store.inNamespace("").entries();

const isDenied = ({ objects, namespaces }: Pair): boolean =>
  objects.access.denied || namespaces.access.denied;

function denied({ access }: Pick<ObjectWatch, "access">): Promise<void> {
  return whenDenied(access);
}

/** Logs one line each time that the contents of `namespace` become unreadable or readable again. */
function logAccess(kind: ObjectKind, namespace: string, pair: Pair, log: Log): void {
  let wasDenied = false;
  const changed = (): void => {
    const isNow = isDenied(pair);
    if (isNow === wasDenied) return;
    wasDenied = isNow;
    if (isNow)
      log.warn(
        { kind, namespace },
        "namespace cannot be read (403): its copies and those of its sources stay as they are",
      );
    else log.info({ kind, namespace }, "namespace can be read again");
  };
  pair.objects.access.onChange(changed);
  pair.namespaces.access.onChange(changed);
}

/** Logs one line when the first Namespace is read by GET, and one when all are watched again. */
function namespaceReads(log: Log): (active: boolean) => void {
  let count = 0;
  return (active) => {
    count += active ? 1 : -1;
    if (active && count === 1)
      log.info(
        {},
        "no right to list and watch Namespaces: each is read by GET every 30 s, which a Role in it grants",
      );
    if (!active && count === 0) log.info({}, "Namespaces are watched");
  };
}

/** Resolves if its informer finds that the namespace does not exist. */
async function notThere(namespaces: Informer<Namespace>): Promise<void> {
  if ((await namespaces.waitForSync()) && namespaces.store.size === 0) return;
  await new Promise(() => {});
}

/**
 * A namespace is in the cluster state only with its objects, and only while both can be read. Handlers are
 * called again when that changes.
 */
class NamespaceGroup extends InformerGroup<Namespace> {
  readonly #all: readonly Informers[];

  constructor(all: readonly Informers[]) {
    super(
      all.map(({ objects, namespaces }) => ({
        informer: namespaces,
        // If every kind of the namespace is denied, nothing waits for it.
        notNeeded: async () => {
          const ofKinds = Array.from(objects.values(), denied);
          await Promise.race([Promise.all(ofKinds), denied(namespaces)]);
        },
      })),
    );
    this.#all = all;
  }

  override addHandler(handler: Parameters<Informer<Namespace>["addHandler"]>[0]) {
    for (const informers of this.#all) {
      const { objects, namespaces } = informers;
      const notify = (): void => {
        for (const [, namespace] of entries(informers)) handler.add?.(namespace, true, false);
      };
      for (const each of objects.values())
        void each.waitForSync().then((synced) => synced && notify());
      for (const { access } of [...objects.values(), namespaces]) access.onChange(notify);
    }
    return super.addHandler(handler);
  }
}
