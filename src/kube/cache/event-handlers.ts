// Who hears of an informer's changes, and how: one after the other, in the order they came; what one
// throws is reported and does not keep the next from hearing.
import type { Change, Store, Stored } from "./store.ts";

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

export class Handlers<T extends Stored> {
  readonly #report: (error: unknown) => void;
  #all: readonly Handler<T>[] = [];

  /** `report` is given what a handler throws. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get all(): readonly Handler<T>[] {
    return this.#all;
  }

  /** The same handler given twice is registered twice. `add` tells it of an object of the first list. */
  register(handler: Handler<T>): { add: (object: T) => void; remove: () => void } {
    const own = Object.create(handler) as Handler<T>;
    this.#all = [...this.#all, own];
    return {
      add: (object) => this.#call(() => own.add?.(object, true, false)),
      remove: () => {
        this.#all = this.#all.filter((other) => other !== own);
      },
    };
  }

  /** Tells `handlers`, but for those removed meanwhile. */
  tell(change: Change<T>, initial: boolean, handlers = this.#all): void {
    for (const handler of handlers)
      if (this.#all.includes(handler)) this.#call(() => tell(handler, change, initial));
  }

  resync(store: Store<T>): void {
    for (const handler of this.#all) {
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
