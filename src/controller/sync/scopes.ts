// The scopes that the caches read: the whole cluster, or each listed namespace with watches of its own, so that a
// Role in each is enough. Promises for listed namespaces: a namespace is in the cluster state only together with
// all its objects as of one moment, and only while the API server shows both. A missing namespace or a 403 delays
// no other namespace. The namespace takes part as soon as it can be read.
// A whole cluster has no such exception: nothing is planned before all of it is read.
import type { Namespace } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import { whenDenied } from "../../../packages/kube/cache/access.ts";
import type { Informer } from "../../../packages/kube/cache/informer.ts";
import { InformerGroup } from "../../../packages/kube/cache/informer-group.ts";
import type { Log } from "../report/log.ts";
import type { ObjectWatch } from "./named-objects.ts";

/** The objects of one kind in one scope, with the Namespaces of that scope. */
export class KindScope {
  /** Undefined: the whole cluster. */
  readonly namespace: string | undefined;
  readonly objects: ObjectWatch;
  readonly namespaces: Informer<Namespace>;

  constructor(
    namespace: string | undefined,
    objects: ObjectWatch,
    namespaces: Informer<Namespace>,
  ) {
    this.namespace = namespace;
    this.objects = objects;
    this.namespaces = namespaces;
  }

  /** The API server denies this listed namespace or its objects. */
  get isDenied(): boolean {
    if (this.namespace === undefined) return false;
    return this.objects.access.denied || this.namespaces.access.denied;
  }

  get entries(): ReadonlyMap<string, Namespace> {
    return this.namespaces.store.inNamespace("");
  }

  /** Resolves if the listed namespace does not exist or the API server denies it. */
  async notNeeded(): Promise<void> {
    if (this.namespace === undefined) return new Promise(() => {});
    const { objects, namespaces } = this;
    await Promise.race([
      notThere(namespaces),
      whenDenied(objects.access),
      whenDenied(namespaces.access),
    ]);
  }

  /** Logs one line each time that the contents of a listed namespace become unreadable or readable again. */
  logAccess(kind: ObjectKind, log: Log): void {
    const { namespace, objects, namespaces } = this;
    let wasDenied = false;
    const changed = (): void => {
      if (this.isDenied === wasDenied) return;
      wasDenied = this.isDenied;
      if (wasDenied)
        log.warn(
          { kind, namespace },
          "namespace cannot be read (403): its copies and those of its sources stay as they are",
        );
      else log.info({ kind, namespace }, "namespace can be read again");
    };
    for (const { access } of [objects, namespaces]) access.onChange(changed);
  }
}

/** Logs one line when the first Namespace is read by GET, and one when all are watched again. */
export function namespaceReads(log: Log): (active: boolean) => void {
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
 * The Namespaces of all scopes. Handlers are called again when a listed namespace or its objects become readable or
 * unreadable, because it is in the cluster state only while both can be read.
 */
export class NamespaceGroup extends InformerGroup<Namespace> {
  readonly #listed: readonly KindScope[];

  constructor(informers: readonly Informer<Namespace>[], scopes: readonly KindScope[]) {
    const listed = scopes.filter(({ namespace }) => namespace !== undefined);
    const partOf = (informer: Informer<Namespace>) => {
      const ofKinds = listed.filter(({ namespaces }) => namespaces === informer);
      if (ofKinds.length === 0) return { informer };
      // If every kind of the namespace is denied, nothing waits for it.
      const objects = (): Promise<unknown> =>
        Promise.all(ofKinds.map(({ objects: { access } }) => whenDenied(access)));
      const notNeeded = async (): Promise<void> => {
        await Promise.race([objects(), whenDenied(informer.access)]);
      };
      return { informer, notNeeded };
    };
    super(informers.map(partOf));
    this.#listed = listed;
  }

  override addHandler(handler: Parameters<Informer<Namespace>["addHandler"]>[0]) {
    for (const scope of this.#listed) {
      const { objects, namespaces } = scope;
      const notify = (): void => {
        for (const namespace of scope.entries.values()) handler.add?.(namespace, true, false);
      };
      void objects.waitForSync().then((synced) => synced && notify());
      for (const { access } of [objects, namespaces]) access.onChange(notify);
    }
    return super.addHandler(handler);
  }
}
