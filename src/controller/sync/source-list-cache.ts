// The source list as the controller knows it: one watch of one ConfigMap, and its entries once they are
// understood. Promises: entries are understood in small steps, so that nobody waits for a long list; a
// list that is not there, cannot be read or is not understood is a state with its reason and holds
// nothing up for longer than it takes to know that; what is known belongs to one version of the list.
import type { ListedKind, ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import { NO_ENTRIES, parseSourceList, type SourceList } from "../annotations/source-list.ts";
import type { ListState } from "../model/cluster.ts";
import {
  forbiddenList,
  heardList,
  pendingList,
  unusableList,
  type UnheardList,
} from "../observed/list-state.ts";
import { readList, type ListObject } from "../observed/read-list.ts";
import { Informer, type InformerOptions } from "../../kube/cache/informer.ts";
import { CONFIG_MAPS } from "../../kube/rest/resource.ts";
import { sleep, type Clock } from "../../kube/time/clock.ts";
import { finishInTurns } from "./turns.ts";
import type { WrittenList } from "../writes/outcome.ts";

export type SourceListOptions = Pick<
  InformerOptions<ListObject>,
  "client" | "metrics" | "onError" | "onConnected"
> & {
  readonly clock: Clock;
  readonly ref: Ref;
  readonly configMaps: boolean;
  /** Names of ConfigMaps that are no sources. */
  readonly reserved: readonly string[] | undefined;
};

// Entries are understood for so long at a stretch.
const TURN_MS = 5;
// What else is cached waits so long for the list at most; a 403 is known after five seconds.
const PATIENCE_MS = 10_000;

type Understood = { readonly object: ListObject; readonly list: SourceList };

export class SourceListCache {
  readonly informer: Informer<ListObject>;
  readonly #options: SourceListOptions;
  /** Of the newest version that was understood; undefined: of none, or there is no list. */
  #understood: Understood | undefined;
  readonly #listeners: (() => void)[] = [];
  /** Of the newest change. */
  #reading = Promise.resolve();
  #turn = 0;

  constructor(options: SourceListOptions) {
    this.#options = options;
    const { client, clock, ref, metrics, onError, onConnected } = options;
    this.informer = new Informer<ListObject>({
      client,
      resource: CONFIG_MAPS,
      namespace: ref.namespace,
      // What a right on the one name allows to list and watch.
      fieldSelector: `metadata.name=${ref.name}`,
      transform: readList,
      clock,
      metrics,
      onError,
      onConnected,
    });
    const changed = (): void => this.#changed();
    this.informer.addHandler({ add: changed, update: changed, delete: changed });
    this.informer.access.onChange(() => this.#tell());
  }

  /** Calls `listener` whenever something else is known of the list. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves as soon as it is known how the list stands, or when that takes too long. */
  async settled(signal: AbortSignal): Promise<void> {
    const { access } = this.informer;
    const denied = new Promise<void>((resolve) => {
      if (access.denied) resolve();
      else access.onChange((is) => is && resolve());
    });
    const read = this.informer.waitForSync(signal).then(() => this.#reading);
    const enough = new AbortController();
    const { clock } = this.#options;
    const patience = sleep(clock, PATIENCE_MS, AbortSignal.any([signal, enough.signal]));
    await Promise.race([read, denied, patience]);
    enough.abort();
  }

  /** How it stands is not known yet, and may be by itself. */
  get pending(): boolean {
    if (this.informer.access.denied) return false;
    if (!this.informer.hasSynced) return true;
    return this.#object?.entries !== undefined && this.#understood === undefined;
  }

  /** Where the answers of our own questions go. */
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

  /** What it says of objects of `kind`, read anew at every look. */
  stateFor(kind: ListedKind): ListState {
    const obstacle = this.#obstacle();
    if (obstacle) return obstacle;
    const { ref } = this.#options;
    if (!this.#understood) return pendingList(ref);
    return heardList(ref, this.#understood.object, this.#understood.list, kind);
  }

  entryOf(kind: ListedKind, object: Ref): ListEntry | undefined {
    if (this.#obstacle() !== undefined) return undefined;
    return this.#understood?.list.of(kind, object);
  }

  get #object(): ListObject | undefined {
    const { namespace, name } = this.#options.ref;
    return this.informer.store.get(namespace, name);
  }

  // Why none of its entries counts, whatever was understood before.
  #obstacle(): UnheardList | undefined {
    const { ref } = this.#options;
    if (this.informer.access.denied) return forbiddenList(ref);
    if (!this.informer.hasSynced) return pendingList(ref);
    const object = this.#object;
    return object?.entries ? undefined : unusableList(ref, object);
  }

  #changed(): void {
    const turn = ++this.#turn;
    const before = this.#reading;
    this.#reading = before.then(() => this.#read(turn));
  }

  // Of versions that follow one another faster than they are read only the newest is.
  async #read(turn: number): Promise<void> {
    if (turn !== this.#turn) return;
    const object = this.#object;
    if (object?.entries) {
      this.#understood = { object, list: await this.#understand(object) };
    }
    this.#tell();
  }

  async #understand({ entries = {} }: ListObject): Promise<SourceList> {
    const { clock, ref, configMaps, reserved } = this.#options;
    const terms = { list: ref, configMaps, reserved };
    const steps = parseSourceList(entries, terms, this.#understood?.list ?? NO_ENTRIES);
    return finishInTurns(steps, clock, TURN_MS);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
