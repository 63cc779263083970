// The objects of one kind and a few names, each name with a list and a watch of its own. The API server
// authorises such requests by RBAC resourceNames, so the controller needs no right to read any other object.
// Promises: all names share one table, so a namespace is read in constant time. A name that answers 403 delays
// no other name, as long as one of them can be read. One log line says so, and one that it is over.
import { whenDenied, type Access } from "../../../packages/kube/cache/access.ts";
import type { Informer } from "../../../packages/kube/cache/informer.ts";
import {
  InformerGroup,
  type NamedWatch,
  type Watched,
} from "../../../packages/kube/cache/informer-group.ts";
import type { ObjectTable } from "../../../packages/kube/store/object-table.ts";
import type { Store } from "../../../packages/kube/store/store.ts";
import type { Clock, Timer } from "../../../packages/kube/time/clock.ts";
import type { CachedObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Log } from "../report/log.ts";

/** The objects of one kind, by one informer or by one for each name. */
export type ObjectWatch = Watched<CachedObject> & {
  readonly store: Pick<
    Store<CachedObject>,
    "size" | "get" | "list" | "inNamespace" | "byIndex" | "recordReading" | "recordDelete"
  >;
  readonly access: Pick<Access, "denied" | "onChange">;
  /** The names that the API server does not let us read. Absent: all names have one watch. */
  readonly deniedNames?: ReadonlySet<string>;
};

export type NamedScope = {
  readonly kind: ObjectKind;
  /** All namespaces when undefined. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

// The names of a Role that was changed are refused one after the other, as their watches try again ...
const REPORT_DELAY_MS = 10_000;
// ... and are read again as late as their back-off allows.
const REPORT_DELAY_AFTER_ALL_MS = 60_000;

export class NamedObjects extends InformerGroup<CachedObject> implements ObjectWatch {
  override readonly store: ObjectWatch["store"];
  readonly access: ObjectWatch["access"];
  readonly #informers: ReadonlyMap<string, Informer<CachedObject>>;
  readonly #scope: NamedScope;
  #denied: ReadonlySet<string> = new Set();
  #reported: ReadonlySet<string> = new Set();
  #reporting: Timer | undefined;
  #allDenied = false;
  #stopped = false;

  /** `informers`: by name, over the one `table`. */
  constructor(
    informers: ReadonlyMap<string, Informer<CachedObject>>,
    table: ObjectTable<CachedObject>,
    scope: NamedScope,
  ) {
    const all = [...informers.values()];
    super(all.map((informer) => ({ informer, notNeeded: () => sparedAmong(informer, all) })));
    this.#informers = informers;
    this.#scope = scope;
    const storeOf = (name: string): Store<CachedObject> | undefined => informers.get(name)?.store;
    this.store = {
      get size() {
        return all.reduce((sum, { store }) => sum + store.size, 0);
      },
      get: (namespace, name) => table.get(namespace, name),
      list: () => table.list(),
      inNamespace: (namespace) => table.inNamespace(namespace),
      byIndex: (index, value) => table.byIndex(index, value),
      // An object of another name has no watch that would report its deletion.
      recordReading: (object) => storeOf(object.name)?.recordReading(object),
      recordDelete: (namespace, name, uid) => storeOf(name)?.recordDelete(namespace, name, uid),
    };
    const isDenied = (): boolean => all.every(({ access }) => access.denied);
    this.access = {
      get denied() {
        return isDenied();
      },
      onChange: (listener) => {
        for (const { access } of all) access.onChange(() => listener(isDenied()));
      },
    };
    this.access.onChange(() => this.#accessChanged());
  }

  get deniedNames(): ReadonlySet<string> {
    return this.#denied;
  }

  override get named(): readonly NamedWatch[] {
    const followed = new Set<unknown>(this.following());
    return [...this.#informers]
      .filter(([, informer]) => followed.has(informer))
      .map(([name, { lastActivityMs, disconnectedSinceMs }]) => ({
        name,
        lastActivityMs,
        disconnectedSinceMs,
      }));
  }

  override async stop(): Promise<void> {
    this.#stopped = true;
    this.#reporting?.cancel();
    await super.stop();
  }

  #accessChanged(): void {
    const denied = [...this.#informers].filter(([, { access }]) => access.denied);
    this.#denied = new Set(denied.map(([name]) => name));
    const afterAll = this.#allDenied;
    this.#allDenied = this.access.denied;
    if (this.#stopped || this.#reporting) return;
    this.#reporting = this.#scope.clock.setTimeout(
      () => {
        this.#reporting = undefined;
        this.#report();
      },
      afterAll ? REPORT_DELAY_AFTER_ALL_MS : REPORT_DELAY_MS,
    );
  }

  #report(): void {
    const { kind, namespace, log } = this.#scope;
    const before = this.#reported;
    // An unreadable namespace has a line of its own.
    const denied = namespace !== undefined && this.access.denied ? before : this.deniedNames;
    this.#reported = denied;
    const where = namespace === undefined ? { kind } : { kind, namespace };
    const names = [...denied].filter((name) => !before.has(name));
    if (names.length > 0)
      log.warn(
        { ...where, names },
        "names cannot be read (403): their copies and those of their sources stay as they are",
      );
    const readable = [...before].filter((name) => !denied.has(name));
    if (readable.length > 0) log.info({ ...where, names: readable }, "names can be read again");
  }
}

/** Resolves if the API server denies this name and shows another one. */
async function sparedAmong(
  informer: Informer<CachedObject>,
  all: readonly Informer<CachedObject>[],
): Promise<void> {
  const others = all.filter((each) => each !== informer);
  await Promise.all([whenDenied(informer.access), Promise.race(others.map(isFilled))]);
}

async function isFilled(informer: Informer<CachedObject>): Promise<void> {
  if (await informer.waitForSync()) return;
  await new Promise(() => {});
}
