// Times by signed 32-bit hashes, for as many texts as a large fan-out has places: a million take eight bytes a slot,
// where a Map takes 100 bytes a text. Promise: a look-up ends after MOST_PROBES slots, whatever the hashes are.

const FIRST_SLOTS = 64;
/** A million random hashes need 30. */
const MOST_PROBES = 128;

export class HashTimes {
  readonly #hashes: Int32Array;
  readonly #times: Uint32Array;
  readonly #mask: number;
  #size = 0;

  /** `slots`: a power of two. */
  constructor(slots = FIRST_SLOTS) {
    this.#hashes = new Int32Array(slots);
    this.#times = new Uint32Array(slots);
    this.#mask = slots - 1;
  }

  /** 0: not in the table. */
  get(hash: number): number {
    return this.#times[this.#slot(hash)] ?? 0;
  }

  /** This table, or a larger one. */
  with(hash: number, time: number): HashTimes {
    if (this.#size > this.#mask >> 1) return this.#grown().with(hash, time);
    const slot = this.#slot(hash);
    if (slot < 0) return this;
    if (this.#times[slot] === 0) this.#size++;
    this.#hashes[slot] = hash;
    this.#times[slot] = time;
    return this;
  }

  /** An empty one for about as many: a table that grows step by step holds the event loop. */
  successor(): HashTimes {
    const slots = this.#mask + 1;
    return new HashTimes(this.#size < slots / 8 ? Math.max(FIRST_SLOTS, slots / 2) : slots);
  }

  /** The slot of `hash`, or the empty one for it. -1: no such slot exists within MOST_PROBES. */
  #slot(hash: number): number {
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (hash + probe) & this.#mask;
      if (this.#times[slot] === 0 || this.#hashes[slot] === hash) return slot;
    }
    return -1;
  }

  #grown(): HashTimes {
    const table = new HashTimes(2 * (this.#mask + 1));
    for (let slot = 0; slot <= this.#mask; slot++) {
      const time = this.#times[slot] ?? 0;
      if (time !== 0) table.with(this.#hashes[slot] ?? 0, time);
    }
    return table;
  }
}
