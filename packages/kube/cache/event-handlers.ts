// Calls the handlers of an informer one after the other, in the order of the events. An exception of one
// handler is reported and does not stop the next.
import type { Store } from "../store/store.ts";
import type { StoreChange, Stored } from "../store/stored.ts";

/**
 * Callbacks for changes. `ownWrite` is true when the event did not change the store, because one of our own
 * writes had already done so. An exception is reported and not rethrown.
 */
export type EventHandler<T> = {
  add?(object: T, isInInitialList: boolean, ownWrite: boolean): void;
  /** The two objects may have different UIDs. In a resync, `old` is `object`. */
  update?(old: T, object: T, ownWrite: boolean): void;
  delete?(last: T, info: { readonly finalStateUnknown: boolean; readonly ownWrite: boolean }): void;
  /** Called once in a resync, instead of one `update` for each object. */
  resync?(): void;
};

/** The result of {@link Informer.addHandler}. */
export type HandlerRegistration = {
  /** The handler has received every object of the first list. */
  readonly hasSynced: boolean;
  /** No call follows it. Repeated calls have no effect. */
  remove(): void;
};

/** One registration. The same handler can be registered twice. */
type Registered<T> = { readonly handler: EventHandler<T> };

export class EventHandlers<T extends Stored> {
  readonly #report: (error: unknown) => void;
  #all: readonly Registered<T>[] = [];

  /** `report` receives the exceptions of handlers. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get all(): readonly Registered<T>[] {
    return this.#all;
  }

  /** Registers `handler`, also when it is registered already. `add` passes it an object of the first list. */
  register(handler: EventHandler<T>): { add: (object: T) => void; remove: () => void } {
    const own = { handler };
    this.#all = [...this.#all, own];
    return {
      add: (object) => this.#call(() => handler.add?.(object, true, false)),
      remove: () => {
        this.#all = this.#all.filter((other) => other !== own);
      },
    };
  }

  /** Calls `handlers`, except those removed meanwhile. */
  dispatch(change: StoreChange<T>, initial: boolean, handlers = this.#all): void {
    for (const each of handlers)
      if (this.#all.includes(each)) this.#call(() => dispatch(each.handler, change, initial));
  }

  resync(store: Store<T>): void {
    for (const { handler } of this.#all) {
      if (handler.resync) this.#call(() => handler.resync?.());
      else
        for (const object of store.list())
          this.#call(() => handler.update?.(object, object, false));
    }
  }

  #call(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(error);
    }
  }
}

function dispatch<T>(handler: EventHandler<T>, change: StoreChange<T>, initial: boolean): void {
  const { ownWrite } = change;
  switch (change.kind) {
    case "add":
      return handler.add?.(change.object, initial, ownWrite);
    case "update":
      return handler.update?.(change.old, change.object, ownWrite);
    case "delete":
      return handler.delete?.(change.last, {
        finalStateUnknown: change.finalStateUnknown,
        ownWrite,
      });
  }
}
