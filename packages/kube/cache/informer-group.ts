// Several informers of one resource, each with its own scope, used as one.
// Promises: the group is synced when every part is, except the parts that it can do without. A handler receives
// the changes of all parts, each in the turn in which its part's store changed. hasSynced stays true once set.
// Does not promise an order between parts, nor one store. Callers read an object from its part.
import type { EventHandler, HandlerRegistration } from "./event-handlers.ts";
import type { Access } from "./access.ts";
import type { Informer } from "./informer.ts";
import type { Stored } from "../store/stored.ts";

/** The common interface of one informer and a group of them. */
export type Watched<T extends Stored> = Pick<
  Informer<T>,
  | "start"
  | "stop"
  | "relist"
  | "hasSynced"
  | "waitForSync"
  | "addHandler"
  | "lastActivityMs"
  | "lastSignOfLifeMs"
  | "disconnectedSinceMs"
  | "scheduledReconnect"
> & {
  readonly store: { readonly size: number };
  /** Absent, or empty: the watches are not of single names. */
  readonly named?: readonly NamedWatch[];
};

/** The watch of one name. */
export type NamedWatch = Pick<Informer<never>, "lastActivityMs" | "disconnectedSinceMs"> & {
  readonly name: string;
};

type Member<T extends Stored> = Watched<T> & { readonly access: Pick<Access, "denied"> };

type Part<T extends Stored> = {
  readonly informer: Member<T>;
  /** Resolves, if ever, as soon as the group can do without this part. */
  readonly notNeeded?: () => Promise<void>;
};

export class InformerGroup<T extends Stored> implements Watched<T> {
  readonly store: { readonly size: number };
  readonly #parts: readonly Part<T>[];
  readonly #informers: readonly Member<T>[];
  #synced = false;

  constructor(parts: readonly Part<T>[]) {
    this.#parts = parts;
    const informers = parts.map(({ informer }) => informer);
    this.#informers = informers;
    this.store = {
      get size() {
        return informers.reduce((sum, { store }) => sum + store.size, 0);
      },
    };
  }

  /** Like an informer, it can be started once. */
  start(): void {
    for (const informer of this.#informers) informer.start();
    void this.waitForSync();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  relist(): void {
    for (const informer of this.#informers) informer.relist();
  }

  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Returns false when `signal` aborts or the informers stop first. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    const each = await Promise.all(
      this.#parts.map(async ({ informer, notNeeded }) => {
        const synced = informer.waitForSync(signal);
        return notNeeded ? Promise.race([synced, notNeeded().then(() => true)]) : synced;
      }),
    );
    this.#synced ||= each.every(Boolean);
    return this.#synced;
  }

  addHandler(handler: EventHandler<T>): HandlerRegistration {
    const all = this.#informers.map((informer) => informer.addHandler(handler));
    const synced = (): boolean => this.#synced;
    return {
      get hasSynced() {
        return synced();
      },
      remove: () => {
        for (const one of all) one.remove();
      },
    };
  }

  /** The time of the part that was heard from the longest ago. */
  get lastActivityMs(): number {
    return Math.min(...this.following().map(({ lastActivityMs }) => lastActivityMs));
  }

  get lastSignOfLifeMs(): number {
    return Math.min(...this.#informers.map(({ lastSignOfLifeMs }) => lastSignOfLifeMs));
  }

  /** The time of the part that has been disconnected the longest. */
  get disconnectedSinceMs(): number | undefined {
    return least(this.following().map(({ disconnectedSinceMs }) => disconnectedSinceMs));
  }

  /** The time of the part that tries first. */
  get scheduledReconnect(): number | undefined {
    return least(this.following().map(({ scheduledReconnect }) => scheduledReconnect));
  }

  /** The watches of single names, one for each name and part. */
  get named(): readonly NamedWatch[] {
    return this.following().flatMap(({ named = [] }) => named);
  }

  /** A part that the group can do without does not show whether the watches are alive. */
  protected following(): readonly Member<T>[] {
    const synced = this.#informers.filter(({ hasSynced, access }) => hasSynced && !access.denied);
    return synced.length > 0 ? synced : this.#informers;
  }
}

function least(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
