// A cache of one resource, with handlers for its changes.
// Promises: an event updates the store and its indices and calls the handlers in one turn of the event loop. So
// no handler sees a cache older than its event. Handlers are called one after the other, in the order of the
// events. An exception of a handler is reported and stops nothing. hasSynced stays true once set.
// Does not promise that a handler sees every state of an object. Delete and recreate can arrive as one update,
// which a handler can detect by comparing UIDs. Handlers are synchronous: they enqueue keys and do no other
// work.
import type { Access } from "./access.ts";
import type { Timer } from "../time/clock.ts";
import { EventHandlers } from "./event-handlers.ts";
import type { EventHandler, HandlerRegistration } from "./event-handlers.ts";
import type { InformerOptions } from "./informer-options.ts";
import { Reflector } from "./reflector.ts";
import type { KubeObject } from "../rest/resource.ts";
import { Store } from "../store/store.ts";
import type { StoreChange, Stored } from "../store/stored.ts";
import { nextTurn } from "../time/turns.ts";
import { nameSelector } from "./list-scope.ts";
import type { LiveEvent } from "./watch.ts";

export type { InformerOptions } from "./informer-options.ts";

const NOTIFICATIONS_BETWEEN_YIELDS = 1000;
const SHORTEST_RESYNC_MS = 1000;

/** A cache of one resource that follows the server until it is stopped, with handlers for its changes. */
export class Informer<T extends Stored> {
  /** The cache. It can be read at any time and is complete once `hasSynced` is true. */
  readonly store: Store<T>;
  readonly #options: InformerOptions<T>;
  readonly #reflector: Reflector<T>;
  readonly #handlers: EventHandlers<T>;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #running: Promise<void> | undefined;
  #resync: Timer | undefined;
  #synced = false;
  #replacing = false;

  /** Sends no request before `start`. */
  constructor(options: InformerOptions<T>) {
    const { clock, resource, namespace, labelSelector, shared } = options;
    const fieldSelector = shared
      ? nameSelector(shared.name, options.fieldSelector)
      : options.fieldSelector;
    this.#options = options;
    this.store = shared ? Store.sharing(clock, shared) : new Store(clock);
    this.store.listen({
      expired: (change) => this.#handlers.dispatch(change, !this.#synced),
    });
    this.#handlers = new EventHandlers((error) => {
      this.#report(error);
      options.metrics?.handlerFailed();
    });
    this.#reflector = new Reflector<T>({
      ...options,
      scope: { resource, namespace, labelSelector, fieldSelector },
      sink: {
        transform: (raw) => this.#read(raw),
        replace: (items, version) => this.#replace(items, version),
        event: (event) => this.#event(event),
      },
    });
  }

  /** Starts to list and watch. Throws when it was started or stopped before. */
  start(): void {
    if (this.#stop.signal.aborted) throw new Error("informer has been stopped");
    if (this.#running) throw new Error("informer has been started already");
    this.#running = this.#reflector.run(this.#stop.signal);
    this.#armResync();
  }

  /** Resolves when no request, timer or handler call is left. Repeated calls have no effect. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#resync?.cancel();
    this.#wake();
    await this.#running;
  }

  /** The cache has been filled. Stays true once set. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Returns true as soon as the cache is filled, or false when `signal` aborts or the informer stops first. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    if (this.#synced || this.#stop.signal.aborted || signal?.aborted) return this.#synced;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener("abort", done);
    });
    return this.#synced;
  }

  /** Monotonic time at which the server was last heard from. */
  get lastActivityMs(): number {
    return this.#reflector.lastActivityMs;
  }

  /**
   * Monotonic time at which the server was last heard from or the last attempt was due. It is old only when the
   * informer is stuck, whatever the server does.
   */
  get lastSignOfLifeMs(): number {
    return this.#reflector.lastSignOfLifeMs;
  }

  /** The server's versions have decreased (etcd was restored). Lists everything again. */
  relist(): void {
    this.store.dropOverlay();
    this.#reflector.relist();
  }

  /**
   * The one object that is read by GET has probably changed. No effect on a watch.
   * @internal
   */
  readSoon(): void {
    this.#reflector.readSoon();
  }

  /**
   * Whether the server allows us to list and watch.
   * @internal
   */
  get access(): Access {
    return this.#reflector.access;
  }

  /** Monotonic time of the next attempt, while the informer waits for it. */
  get scheduledReconnect(): number | undefined {
    return this.#reflector.scheduledReconnect;
  }

  /**
   * Monotonic time since which no watch has been open, so that the store becomes stale. Undefined while a watch
   * is open. It starts with the constructor and lasts until the first list is complete.
   */
  get disconnectedSinceMs(): number | undefined {
    return this.#reflector.disconnectedSinceMs;
  }

  /** Passes every object of the cache to the handler as an add, then each later change, without a gap. */
  addHandler(handler: EventHandler<T>): HandlerRegistration {
    if (this.#stop.signal.aborted) throw new Error("informer has been stopped");
    const { add, remove } = this.#handlers.register(handler);
    for (const object of this.store.list()) add(object);
    const synced = (): boolean => this.#synced;
    return {
      get hasSynced() {
        return synced();
      },
      remove,
    };
  }

  async #replace(items: readonly T[], version: string): Promise<void> {
    this.#replacing = true;
    const first = this.store.fill(items, version);
    const changes = first ? added(items) : this.store.replace(items, version);
    // A handler that is added later receives the new state from addHandler.
    const handlers = this.#handlers.all;
    let reported = 0;
    for (const change of changes) {
      if (this.#stop.signal.aborted) return;
      this.#handlers.dispatch(change, !this.#synced, handlers);
      if (++reported % NOTIFICATIONS_BETWEEN_YIELDS === 0) await nextTurn();
    }
    this.#replacing = false;
    this.#synced = true;
    this.#wake();
  }

  // The answer of our own write has been transformed already. Its echo and a relist need no second transform.
  #read(raw: KubeObject): T | undefined {
    const { namespace, name, uid, resourceVersion } = raw.metadata;
    if (this.#isOfAnother(raw)) return undefined;
    const known = this.store.get(namespace, name);
    const isKnown = known?.uid === uid && known.resourceVersion === resourceVersion;
    return isKnown ? known : this.#options.transform(raw);
  }

  #event(event: LiveEvent): void {
    if (event.kind === "bookmark") {
      this.store.bookmark(event.resourceVersion);
      return;
    }
    if (this.#isOfAnother(event.object)) return;
    let object: T | undefined;
    try {
      object = this.#read(event.object);
    } catch (error) {
      this.#report(error);
      this.#options.metrics?.eventDropped();
      return;
    }
    const kept = event.kind === "set" ? object : undefined;
    const change = kept
      ? this.store.upsert(kept)
      : this.store.remove(object ?? event.object.metadata, object);
    if (change) this.#handlers.dispatch(change, !this.#synced);
  }

  // A proxy may ignore the selector, and other objects of the table have informers of their own.
  #isOfAnother({ metadata }: KubeObject): boolean {
    const { shared } = this.#options;
    return shared !== undefined && shared.name !== metadata.name;
  }

  #report(error: unknown): void {
    this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }

  #armResync(): void {
    const { clock, resyncMs = 0 } = this.#options;
    if (resyncMs <= 0) return;
    const period = Math.max(resyncMs, SHORTEST_RESYNC_MS) * (0.9 + 0.2 * clock.random());
    this.#resync = clock.setTimeout(() => {
      this.#armResync();
      if (this.#synced && !this.#replacing) this.#handlers.resync(this.store);
    }, period);
  }
}

function* added<T>(objects: readonly T[]): Iterable<StoreChange<T>> {
  for (const object of objects) yield { kind: "add", object, ownWrite: false };
}
