// Who hears of an informer's changes, and how: one after the other, in the order they came; what one
// throws is reported and does not keep the next from hearing.
import type { StoreChange, Store, Stored } from "./store.ts";

/**
 * What to call for a change. `ownWrite` is true when the store did not change by the event, because one
 * of our own writes had brought it there already. An exception is reported, not passed on.
 */
export type EventHandler<T> = {
  add?(object: T, isInInitialList: boolean, ownWrite: boolean): void;
  /** The two may have different UIDs. In a resync `old` is `object`. */
  update?(old: T, object: T, ownWrite: boolean): void;
  delete?(last: T, info: { readonly finalStateUnknown: boolean; readonly ownWrite: boolean }): void;
  /** Called once in a resync, in place of one `update` for each object. */
  resync?(): void;
};

/** What {@link Informer.addHandler} gives back. */
export type HandlerRegistration = {
  /** The handler has been told of everything in the first list. */
  readonly hasSynced: boolean;
  /** No call comes after it; harmless when repeated. */
  remove(): void;
};

/** One registration: the same handler given twice is two of them. */
type Registered<T> = { readonly handler: EventHandler<T> };

export class EventHandlers<T extends Stored> {
  readonly #report: (error: unknown) => void;
  #all: readonly Registered<T>[] = [];

  /** `report` is given what a handler throws. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get all(): readonly Registered<T>[] {
    return this.#all;
  }

  /** The same handler given twice is registered twice. `add` tells it of an object of the first list. */
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

  /** Tells `handlers`, but for those removed meanwhile. */
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
