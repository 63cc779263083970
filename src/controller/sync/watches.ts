// Everything that the controller watches: the source list, Namespaces, and the objects of each kind. Promises:
// - The other watches start as soon as the source list is known, and at most a second after it. With a known
//   list, each object that it names is read only once.
// - A source list that is missing or may not be read delays a run only until that is known.
import type { Namespace, CachedObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { atMost } from "../../../packages/kube/time/deadline.ts";
import type { AnyWatch, Caches } from "./caches.ts";
import type { SourceListCache } from "./source-list-cache.ts";

type WatchedParts = Pick<Caches, "kinds" | "namespaces" | "watches" | "onNamesChange"> & {
  /** Undefined if no source list is configured. */
  readonly list: SourceListCache | undefined;
};

export type WatchHandlers = {
  object(
    kind: ObjectKind,
    old: CachedObject | undefined,
    object: CachedObject | undefined,
    ownWrite: boolean,
  ): void;
  /** `before`: its previous state. Undefined if it is new. */
  namespace(name: string, before: Namespace | undefined): void;
  listChanged(): void;
  /** A name of --only-names may be read, or may no longer. */
  namesChanged(): void;
};

// The name of the list's watch among those of resources.
export const LIST_WATCH = "source list";
const LIST_FIRST_MS = 1000;

export class Watches {
  readonly #parts: WatchedParts;
  readonly #clock: Clock;

  constructor(parts: WatchedParts, clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  /** Those of resources, which a replica needs to serve. */
  get byResource(): Readonly<Record<string, AnyWatch>> {
    return this.#parts.watches;
  }

  get all(): Readonly<Record<string, AnyWatch>> {
    const { watches, list } = this.#parts;
    return { ...watches, ...(list && { [LIST_WATCH]: list.informer }) };
  }

  /** Objects by resource. */
  get sizes(): Readonly<Record<string, number>> {
    const all = Object.entries(this.byResource);
    return Object.fromEntries(all.map(([resource, { store }]) => [resource, store.size]));
  }

  /** Whether the source list is not known yet and may become known without any change. */
  get listPending(): boolean {
    return this.#parts.list?.pending === true;
  }

  listen(handlers: WatchHandlers): void {
    const { kinds, namespaces, list, onNamesChange } = this.#parts;
    list?.onChange(() => handlers.listChanged());
    onNamesChange(() => handlers.namesChanged());
    for (const { kind, objects } of kinds) {
      objects.addHandler({
        add: (object, _initial, ownWrite) => handlers.object(kind, undefined, object, ownWrite),
        update: (old, object, ownWrite) => handlers.object(kind, old, object, ownWrite),
        delete: (last, { ownWrite }) => handlers.object(kind, last, undefined, ownWrite),
      });
    }
    namespaces.addHandler({
      add: ({ name }) => handlers.namespace(name, undefined),
      update: (old, namespace) => {
        if (old.resourceVersion !== namespace.resourceVersion) handlers.namespace(old.name, old);
      },
      delete: (last) => handlers.namespace(last.name, last),
    });
  }

  /** `filled` resolves when every cache is complete, and as soon as `signal` aborts. */
  async start(signal: AbortSignal): Promise<{ readonly filled: Promise<unknown> }> {
    const { list } = this.#parts;
    list?.informer.start();
    const listed = list?.settled(signal);
    if (listed) await atMost(this.#clock, LIST_FIRST_MS, listed, signal);
    const others = Object.values(this.byResource);
    for (const watch of others) watch.start();
    return { filled: Promise.all([...others.map((watch) => watch.waitForSync(signal)), listed]) };
  }

  /** Lists everything again, because the watches follow a history that the API server no longer has. */
  relist(): void {
    for (const watch of Object.values(this.all)) watch.relist();
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.all).map((watch) => watch.stop()));
  }
}
