// Read your writes: the answer of a write is put into the store. The state of that key according to the watch
// is kept beside it as `base`. Events older than the write change only `base`. The entry is removed when the
// watch has reached the write, or after five minutes, when the state of the watch is used again.
import { compareVersions } from "../rest/resource.ts";
import type { Clock } from "../time/clock.ts";
import { storeKey, type ObjectKey, type Stored } from "./stored.ts";

export type OwnWrite<T> = ObjectKey & {
  /** The state according to the watch. Undefined if the watch knows no such object. */
  base: T | undefined;
  /** The result of our write, or the same version as it was read later. Undefined after our DELETE. */
  object: T | undefined;
  readonly uid: string;
  /** The version in the write's answer. For a DELETE, the last version before it. */
  readonly version: string;
  readonly at: number;
};

const OVERLAY_MS = 300_000;

/** The own writes of a store that the watch has not reached, the oldest first. */
export class OwnWrites<T extends Stored> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #writes = new Map<string, OwnWrite<T>>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#writes.size;
  }

  get(at: ObjectKey): OwnWrite<T> | undefined {
    return this.#writes.get(storeKey(at));
  }

  all(): Iterable<OwnWrite<T>> {
    return this.#writes.values();
  }

  put(write: Omit<OwnWrite<T>, "at">): void {
    // Deleted and set again, so that the map stays ordered by age.
    this.delete(write);
    this.#writes.set(storeKey(write), { ...write, at: this.#clock.monotonic() });
  }

  delete(at: ObjectKey): void {
    this.#writes.delete(storeKey(at));
  }

  /** Those that the watch did not confirm in time. */
  *expired(): Iterable<OwnWrite<T>> {
    const oldest = this.#clock.monotonic() - OVERLAY_MS;
    for (const write of this.#writes.values()) {
      if (write.at > oldest) return;
      yield write;
    }
  }

  /** All objects according to the watch, of which the store shows `shown`. */
  bases(shown: readonly T[]): readonly T[] {
    const unwritten = shown.filter((object) => !this.#writes.has(storeKey(object)));
    const bases = [...this.#writes.values()].map(({ base }) => base);
    return unwritten.concat(bases.filter((base) => base !== undefined));
  }
}

/**
 * Whether the watch at `version` has reached the write. The version of a DELETE itself is not known. It is
 * reached when the object no longer exists at a later version.
 */
export function isReached<T extends Stored>(write: OwnWrite<T>, version: string): boolean {
  const ahead = compareVersions(version, write.version);
  return write.object ? ahead >= 0 : ahead > 0 && write.base?.uid !== write.uid;
}
