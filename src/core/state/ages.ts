// Since when each of many things has been so, over passes that found it so: that a write is due, or
// what a row says. Compact, because a fan-out has a million places: a table of hashes and times, eight
// bytes a slot. Two texts of one hash share an age, which does no harm: it orders writes and is shown,
// and decides nothing. No clock: `now` is milliseconds of a monotonic clock.

const FIRST_SLOTS = 64;

export class Ages {
  #before = new Table(FIRST_SLOTS);
  #current = new Table(FIRST_SLOTS);

  #oldestFirst = false;
  readonly #unitMs: number;

  /** `unitMs`: how exact the times are; 2 ** 32 of it is the longest life of the process that fits. */
  constructor(unitMs = 1) {
    this.#unitMs = unitMs;
  }

  /** Whether the oldest goes before the youngest: a plan that is soon replaced starts but one of them. */
  get oldestFirst(): boolean {
    return this.#oldestFirst;
  }

  /** A write was started: the other kind comes first now. */
  started(): void {
    this.#oldestFirst = !this.#oldestFirst;
  }

  /** Since when `text` has been so: from now on, if the pass before did not ask. */
  since(text: string, now: number): number {
    const hash = hashOf(text);
    // Time 0 is an empty slot.
    const at = this.#before.get(hash) || Math.floor(now / this.#unitMs) + 1;
    this.#current = this.#current.with(hash, at);
    return (at - 1) * this.#unitMs;
  }

  beginPass(): void {
    this.#before = this.#current;
    this.#current = new Table(FIRST_SLOTS);
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

  /** 0: none. */
  get(hash: number): number {
    return this.#times[this.#slot(hash)] ?? 0;
  }

  /** This table, or one with more room. */
  with(hash: number, time: number): Table {
    if (this.#size > this.#mask >> 1) return this.#grown().with(hash, time);
    const slot = this.#slot(hash);
    if (this.#times[slot] === 0) this.#size++;
    this.#hashes[slot] = hash;
    this.#times[slot] = time;
    return this;
  }

  #slot(hash: number): number {
    let slot = hash & this.#mask;
    while (this.#times[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & this.#mask;
    return slot;
  }

  #grown(): Table {
    const table = new Table(2 * (this.#mask + 1));
    for (const [slot, time] of this.#times.entries())
      if (time !== 0) table.with(this.#hashes[slot] ?? 0, time);
    return table;
  }
}

// FNV-1a over UTF-16 code units, mixed once more because tables use the low bits.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
