// Since when a text has been used in every sync: since when a write has been due, or a row has been reported.
// Two texts of one hash share a time, and a text that finds no slot in the table has none. That does no harm: a
// time orders writes and is shown, and decides nothing. Users choose the texts, so the hash has a key.
// No clock: `now` is milliseconds of a monotonic clock.
import { HashTimes } from "../../text/hash-times.ts";
import { keyedHash, randomHashKey, type HashKey } from "../../text/keyed-hash.ts";

export class FirstSeen {
  #before = new HashTimes();
  #current = new HashTimes();

  #oldestFirst = false;
  readonly #unitMs: number;
  readonly #key: HashKey;

  /** `unitMs`: the precision of the times. The process can live for 2 ** 32 of it. */
  constructor(unitMs = 1, key = randomHashKey()) {
    this.#unitMs = unitMs;
    this.#key = key;
  }

  /** Whether the oldest write is started before the youngest: a plan that is soon replaced starts only one. */
  get oldestFirst(): boolean {
    return this.#oldestFirst;
  }

  /** A write was started: the other kind comes first now. */
  started(): void {
    this.#oldestFirst = !this.#oldestFirst;
  }

  /** Since when `text` has been used: from now on, if the previous sync did not use it. */
  since(text: string, now: number): number {
    const hash = keyedHash(text, this.#key);
    // Time 0 is an empty slot.
    const at = this.#before.get(hash) || Math.floor(now / this.#unitMs) + 1;
    this.#current = this.#current.with(hash, at);
    return (at - 1) * this.#unitMs;
  }

  beginSync(): void {
    this.#before = this.#current;
    this.#current = this.#before.successor();
  }
}
