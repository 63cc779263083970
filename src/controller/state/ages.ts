// Since when a text has been asked for in every sync: how long a write has been due, or a row has been
// reported. A fan-out has a million places, so this is a table of hashes and times: eight bytes a slot,
// where two Maps take 200 bytes a place. Two texts of one hash share an age. That does no harm: an age orders
// writes and is shown, and decides nothing. Users choose the texts, so the hash has a key and a look-up
// ends after MOST_PROBES slots. No clock: `now` is milliseconds of a monotonic clock.
import { keyedHash, randomHashKey, type HashKey } from "../model/keyed-hash.ts";

const FIRST_SLOTS = 64;
/** A million places need 30. A text that finds no slot has no age. */
const MOST_PROBES = 128;

export class Ages {
  #before = new Table(FIRST_SLOTS);
  #current = new Table(FIRST_SLOTS);

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

  /** Since when `text` has been asked for: from now on, if the previous sync did not ask. */
  since(text: string, now: number): number {
    const hash = keyedHash(text, this.#key);
    // Time 0 is an empty slot.
    const at = this.#before.get(hash) || Math.floor(now / this.#unitMs) + 1;
    this.#current = this.#current.with(hash, at);
    return (at - 1) * this.#unitMs;
  }

  beginPass(): void {
    this.#before = this.#current;
    this.#current = this.#before.successor();
  }
}

class Table {
  readonly #hashes: Uint32Array;
  readonly #times: Uint32Array;
  readonly #mask: number;
  #size = 0;

  /** `slots`: a power of two. */
  constructor(slots: number) {
    this.#hashes = new Uint32Array(slots);
    this.#times = new Uint32Array(slots);
    this.#mask = slots - 1;
  }

  /** 0: not in the table. */
  get(hash: number): number {
    return this.#times[this.#slot(hash)] ?? 0;
  }

  /** This table, or a larger one. */
  with(hash: number, time: number): Table {
    if (this.#size > this.#mask >> 1) return this.#grown().with(hash, time);
    const slot = this.#slot(hash);
    if (slot < 0) return this;
    if (this.#times[slot] === 0) this.#size++;
    this.#hashes[slot] = hash;
    this.#times[slot] = time;
    return this;
  }

  /** An empty one for about as many: a table that grows step by step holds the event loop. */
  successor(): Table {
    const slots = this.#mask + 1;
    return new Table(this.#size < slots / 8 ? Math.max(FIRST_SLOTS, slots / 2) : slots);
  }

  /** The slot of `hash`, or the empty one for it. -1: no such slot exists within MOST_PROBES. */
  #slot(hash: number): number {
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (hash + probe) & this.#mask;
      if (this.#times[slot] === 0 || this.#hashes[slot] === hash) return slot;
    }
    return -1;
  }

  #grown(): Table {
    const table = new Table(2 * (this.#mask + 1));
    for (let slot = 0; slot <= this.#mask; slot++) {
      const time = this.#times[slot] ?? 0;
      if (time !== 0) table.with(this.#hashes[slot] ?? 0, time);
    }
    return table;
  }
}
