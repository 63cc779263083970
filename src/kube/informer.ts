// One cache of one resource, and handlers that hear of its changes.
// Promises: an event, its store, its indices and its handlers happen in one turn of the event loop, so
// a handler never sees a cache older than its event; handlers are called one after the other in the
// order of the events; what a handler throws is reported and stops nothing. hasSynced never goes back.
// Does not promise: that a handler sees every state of an object. Delete and recreate can arrive as
// one update; who cares compares UIDs. Handlers are synchronous: they enqueue, they do not work.
import type { Backoff } from "./backoff.ts";
import { Backoff as DefaultBackoff } from "./backoff.ts";
import type { ApiClient } from "./client.ts";
import type { Clock, Timer } from "./clock.ts";
import { Reflector } from "./reflector.ts";
import type { Log, ReflectorMetrics } from "./reflector.ts";
import type { KubeObject, Resource } from "./resource.ts";
import { Store } from "./store.ts";
import type { Change, Stored } from "./store.ts";
import { turn } from "./watch.ts";
import type { LiveEvent } from "./watch.ts";

/**
 * What to call for a change. `echo` is true when the store did not change by the event, because one
 * of our own writes had brought it there already. An exception is reported, not passed on.
 */
export type Handler<T> = {
  add?(object: T, isInInitialList: boolean, echo: boolean): void;
  /** The two may have different UIDs. In a resync `old` is `object`. */
  update?(old: T, object: T, echo: boolean): void;
  delete?(last: T, info: { readonly finalStateUnknown: boolean; readonly echo: boolean }): void;
  /** Called once in a resync, in place of one `update` for each object. */
  resync?(): void;
};

export type Registration = {
  /** The handler has been told of everything in the first list. */
  readonly hasSynced: boolean;
  /** No call comes after it; harmless when repeated. */
  remove(): void;
};

export type InformerMetrics = ReflectorMetrics & {
  handlerFailed(): void;
  /** An event was left out because the transform threw. */
  eventDropped(): void;
};

export type InformerOptions<T extends Stored> = {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * What to keep of an object; undefined leaves it out. Called once for each object the server
   * sends. When it throws, a watch event is dropped, and a list fails as a whole.
   */
  readonly transform: (raw: KubeObject) => T | undefined;
  readonly clock: Clock;
  readonly backoff?: Backoff;
  /** Handlers hear of the whole cache again this often, in ms, ±10 %; absent or 0 never; at least 1,000. */
  readonly resyncMs?: number | undefined;
  /** Once for each failed list or watch, and for each exception of a handler or transform. */
  readonly onError?: ((error: Error) => void) | undefined;
  readonly log?: Log | undefined;
  readonly metrics?: InformerMetrics | undefined;
};

const NOTIFICATIONS_BETWEEN_YIELDS = 1000;
const SHORTEST_RESYNC_MS = 1000;

export class Informer<T extends Stored> {
  readonly store: Store<T>;
  readonly #options: InformerOptions<T>;
  readonly #reflector: Reflector<T>;
  #handlers: readonly Handler<T>[] = [];
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #running: Promise<void> | undefined;
  #resync: Timer | undefined;
  #synced = false;
  #replacing = false;

  constructor(options: InformerOptions<T>) {
    const { client, clock, resource, namespace, labelSelector, fieldSelector } = options;
    this.#options = options;
    this.store = new Store(clock);
    this.#reflector = new Reflector<T>({
      client,
      clock,
      scope: { resource, namespace, labelSelector, fieldSelector },
      backoff: options.backoff ?? new DefaultBackoff({ clock }),
      onError: options.onError,
      log: options.log,
      metrics: options.metrics,
      sink: {
        transform: options.transform,
        replace: (items, version) => this.#replace(items, version),
        event: (event) => this.#event(event),
      },
    });
  }

  /** Begins to list and watch; a second start is an error, so is one after stop. */
  start(): void {
    if (this.#stop.signal.aborted) throw new Error("informer has been stopped");
    if (this.#running) throw new Error("informer has been started already");
    this.#running = this.#reflector.run(this.#stop.signal);
    this.#armResync();
  }

  /** Resolves when no request, timer or handler call is left; harmless when repeated. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#resync?.cancel();
    this.#wake();
    await this.#running;
  }

  get hasSynced(): boolean {
    return this.#synced;
  }

  /** True as soon as the cache is filled; false when `signal` aborts or the informer stops before. */
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

  /** Monotonic time at which the server was last heard. */
  get lastActivityMs(): number {
    return this.#reflector.lastActivityMs;
  }

  /** Monotonic time of the next attempt while one is waited for: as good as a sign of life. */
  get scheduledReconnect(): number | undefined {
    return this.#reflector.scheduledReconnect;
  }

  /** The handler hears of every object already here as an add, then of what comes, without gap. */
  addHandler(handler: Handler<T>): Registration {
    if (this.#stop.signal.aborted) throw new Error("informer has been stopped");
    // A copy of its own, so that the same handler given twice is two registrations.
    const own = Object.create(handler) as Handler<T>;
    for (const object of this.store.list()) this.#call(() => own.add?.(object, true, false));
    this.#handlers = [...this.#handlers, own];
    const synced = (): boolean => this.#synced;
    return {
      get hasSynced() {
        return synced();
      },
      remove: () => {
        this.#handlers = this.#handlers.filter((other) => other !== own);
      },
    };
  }

  async #replace(items: readonly T[], version: string): Promise<void> {
    this.#replacing = true;
    const changes = this.store.replace(items, version);
    // A handler added from here on is told of the new state by addHandler.
    const handlers = this.#handlers;
    for (const [at, change] of changes.entries()) {
      if (this.#stop.signal.aborted) return;
      this.#notify(change, handlers);
      if ((at + 1) % NOTIFICATIONS_BETWEEN_YIELDS === 0) await turn();
    }
    this.#replacing = false;
    this.#synced = true;
    this.#wake();
  }

  #event(event: LiveEvent): void {
    if (event.kind === "bookmark") {
      this.store.bookmark(event.resourceVersion);
      return;
    }
    let object: T | undefined;
    try {
      object = this.#options.transform(event.object);
    } catch (error) {
      this.#report(error);
      this.#options.metrics?.eventDropped();
      return;
    }
    const kept = event.kind === "set" ? object : undefined;
    const change = kept
      ? this.store.upsert(kept)
      : this.store.remove(object ?? event.object.metadata, object);
    if (change) this.#notify(change, this.#handlers);
  }

  #notify(change: Change<T>, handlers: readonly Handler<T>[]): void {
    for (const handler of handlers)
      if (this.#handlers.includes(handler)) this.#call(() => tell(handler, change, !this.#synced));
  }

  #call(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(error);
      this.#options.metrics?.handlerFailed();
    }
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
      if (this.#synced && !this.#replacing) this.#resyncAll();
    }, period);
  }

  #resyncAll(): void {
    for (const handler of this.#handlers) {
      if (handler.resync) this.#call(() => handler.resync?.());
      else
        for (const object of this.store.list())
          this.#call(() => handler.update?.(object, object, false));
    }
  }
}

function tell<T>(handler: Handler<T>, change: Change<T>, initial: boolean): void {
  const { echo } = change;
  switch (change.kind) {
    case "add":
      return handler.add?.(change.object, initial, echo);
    case "update":
      return handler.update?.(change.old, change.object, echo);
    case "delete":
      return handler.delete?.(change.last, { finalStateUnknown: change.finalStateUnknown, echo });
  }
}
