// The source list as the controller knows it: one watch of one ConfigMap, and its parsed entries. Promises:
// - Entries are parsed in small steps, so that other work does not wait for a long list.
// - A list that is missing, unreadable or invalid is a state with a reason. It delays other work only until
//   that is known.
// - The parsed entries belong to one version of the list.
import type { ListedKind, ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import { NO_ENTRIES, parseSourceList, type SourceList } from "../annotations/source-list.ts";
import type { ListState } from "../model/cluster.ts";
import {
  forbiddenListState,
  readListState,
  pendingListState,
  unusableListState,
  type UnreadList,
} from "../observed/list-state.ts";
import { readList, type ListObject } from "../observed/read-list.ts";
import { whenDenied } from "../../../packages/kube/cache/access.ts";
import { Informer, type InformerOptions } from "../../../packages/kube/cache/informer.ts";
import { CONFIG_MAPS } from "../../../packages/kube/rest/resource.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { atMost } from "../../../packages/kube/time/deadline.ts";
import { finishInTurns } from "../../../packages/kube/time/turns.ts";
import type { WrittenList } from "../writes/outcome.ts";

export type SourceListOptions = Pick<
  InformerOptions<ListObject>,
  "client" | "metrics" | "onError" | "onConnected"
> & {
  readonly clock: Clock;
  readonly ref: Ref;
  readonly kinds: readonly ListedKind[];
  /** Names of ConfigMaps that are never sources. */
  readonly reserved: readonly string[] | undefined;
  /** The only object names that take part, or undefined: all. */
  readonly onlyNames: ReadonlySet<string> | undefined;
};

// Parsing holds the event loop for at most this long.
const TURN_MS = 5;
// Other caches wait at most this long for the list. A 403 is known after five seconds.
const LONGEST_WAIT_MS = 10_000;

type ParsedList = { readonly object: ListObject; readonly list: SourceList };

export class SourceListCache {
  readonly informer: Informer<ListObject>;
  readonly #options: SourceListOptions;
  /** The newest parsed version. Undefined if no version was parsed or there is no list. */
  #parsed: ParsedList | undefined;
  readonly #listeners: (() => void)[] = [];
  /** Resolves when the newest change is read. */
  #reading = Promise.resolve();
  #turn = 0;

  constructor(options: SourceListOptions) {
    this.#options = options;
    const { client, clock, ref, metrics, onError, onConnected } = options;
    this.informer = new Informer<ListObject>({
      client,
      resource: CONFIG_MAPS,
      namespace: ref.namespace,
      // A Role that names only this ConfigMap allows this list and watch.
      fieldSelector: `metadata.name=${ref.name}`,
      transform: readList,
      clock,
      metrics,
      onError,
      onConnected,
    });
    const changed = (): void => this.#changed();
    this.informer.addHandler({ add: changed, update: changed, delete: changed });
    this.informer.access.onChange(() => this.#notify());
  }

  /** Calls `listener` whenever the known state of the list changes. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves as soon as the state of the list is known, or when that takes too long. */
  async settled(signal: AbortSignal): Promise<void> {
    const denied = whenDenied(this.informer.access);
    const read = this.informer.waitForSync(signal).then(() => this.#reading);
    await atMost(this.#options.clock, LONGEST_WAIT_MS, Promise.race([read, denied]), signal);
  }

  /** Whether the state of the list is not known yet but may become known without any change. */
  get pending(): boolean {
    if (this.informer.access.denied) return false;
    if (!this.informer.hasSynced) return true;
    return this.#object?.entries !== undefined && this.#parsed === undefined;
  }

  /** Receives the answers of our own live reads. */
  get written(): WrittenList {
    const { store } = this.informer;
    const { ref } = this.#options;
    return {
      remember: (raw) => {
        const object = readList(raw);
        if (object) store.recordWrite(object);
        this.#changed();
      },
      forget: (uid) => {
        store.recordDelete(ref.namespace, ref.name, uid);
        this.#changed();
      },
    };
  }

  /** The entries for objects of `kind`. Each call returns the current state. */
  stateFor(kind: ListedKind): ListState {
    const obstacle = this.#obstacle();
    if (obstacle) return obstacle;
    const { ref } = this.#options;
    if (!this.#parsed) return pendingListState(ref);
    return readListState(ref, this.#parsed.object, this.#parsed.list, kind);
  }

  entryOf(kind: ListedKind, object: Ref): ListEntry | undefined {
    if (this.#obstacle() !== undefined) return undefined;
    return this.#parsed?.list.of(kind, object);
  }

  get #object(): ListObject | undefined {
    const { namespace, name } = this.#options.ref;
    return this.informer.store.get(namespace, name);
  }

  // Why no entry is valid now, whatever was parsed before.
  #obstacle(): UnreadList | undefined {
    const { ref } = this.#options;
    if (this.informer.access.denied) return forbiddenListState(ref);
    if (!this.informer.hasSynced) return pendingListState(ref);
    const object = this.#object;
    return object?.entries ? undefined : unusableListState(ref, object);
  }

  #changed(): void {
    const turn = ++this.#turn;
    const before = this.#reading;
    this.#reading = before.then(() => this.#read(turn));
  }

  // If versions arrive faster than they are read, only the newest is read.
  async #read(turn: number): Promise<void> {
    if (turn !== this.#turn) return;
    const object = this.#object;
    if (object?.entries) {
      this.#parsed = { object, list: await this.#parse(object) };
    }
    this.#notify();
  }

  async #parse({ entries = {} }: ListObject): Promise<SourceList> {
    const { clock, ref, kinds, reserved, onlyNames } = this.#options;
    const terms = { list: ref, kinds, reserved, onlyNames };
    const steps = parseSourceList(entries, terms, this.#parsed?.list ?? NO_ENTRIES);
    return finishInTurns(steps, clock, TURN_MS);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
