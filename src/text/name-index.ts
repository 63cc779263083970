// The offsets of names in a user's list. It stores no name. Each takes two or four bytes for its offset and one
// or two for the look-up. A list of 64 KiB takes little more than its text. A user can choose names that all
// have the same bucket, which makes look-ups slow. The index knows how slow.

/** On average a bucket has at most this many names, and at least half as many. */
const A_BUCKET = 4;
/** More names in one bucket mean that names are repeated or were chosen for one bucket. */
const MOST_A_BUCKET = 24;
// The first of equal names is kept. The search for equal names stops after this many probes.
const MOST_PROBES = 32;
const COMPARED_A_STEP = 16;

export class NameIndex {
  /** The offset of each bucket, one more than there are buckets. The places of the names follow. */
  readonly #table: Uint16Array | Uint32Array;
  readonly #mask: number;
  readonly #text: string;
  /** The most steps of 10 ns that a look-up takes. */
  readonly steps: number;

  /** `starts`: the offsets of names in `text`, ascending. */
  constructor(text: string, starts: readonly number[]) {
    const hashed = new Hashed(text, starts);
    if (hashed.largest > MOST_A_BUCKET) hashed.keepFirsts();
    const { buckets, count } = hashed;
    const size = buckets + 1 + count;
    const short = Math.max(text.length, size) < 2 ** 16;
    this.#text = text;
    this.#mask = buckets - 1;
    this.#table = short ? new Uint16Array(size) : new Uint32Array(size);
    hashed.fill(this.#table);
    this.steps = hashed.steps;
  }

  /** The first offset of `name` in the text. -1 if it is not in the list. */
  find(name: string): number {
    const bucket = hashOf(name) & this.#mask;
    const [from = 0, to = 0] = [this.#table[bucket], this.#table[bucket + 1]];
    for (let at = from; at < to; at++) {
      const start = this.#table[at] ?? 0;
      if (isAt(this.#text, start, name)) return start;
    }
    return -1;
  }
}

/** The names during the construction of the index. */
class Hashed {
  readonly #text: string;
  readonly #starts: Uint32Array;
  readonly #hashes: Int32Array;
  readonly #lengths: Uint16Array;
  #counts = new Uint32Array(1);
  count: number;
  buckets = 1;

  constructor(text: string, starts: readonly number[]) {
    this.#text = text;
    this.#starts = Uint32Array.from(starts);
    this.count = starts.length;
    this.#hashes = new Int32Array(this.count);
    this.#lengths = new Uint16Array(this.count);
    for (let index = 0; index < this.count; index++) {
      const start = starts[index] ?? 0;
      let [hash, at] = [OFFSET, start];
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (!isWithin(code)) break;
        hash = Math.imul(hash ^ code, PRIME);
      }
      this.#hashes[index] = hash ^ (hash >>> 15);
      this.#lengths[index] = at - start;
    }
    this.#spread();
  }

  get largest(): number {
    return this.#counts.reduce((most, each) => Math.max(most, each), 0);
  }

  get steps(): number {
    const steps = new Uint32Array(this.buckets);
    for (let index = 0; index < this.count; index++) {
      const bucket = this.#bucket(index);
      const compared = 1 + Math.floor((this.#lengths[index] ?? 0) / COMPARED_A_STEP);
      steps[bucket] = (steps[bucket] ?? 0) + compared;
    }
    return steps.reduce((most, each) => Math.max(most, each), 1);
  }

  keepFirsts(): void {
    let size = 1;
    while (size < 2 * this.count) size *= 2;
    const seen = new Int32Array(size).fill(-1);
    let kept = 0;
    for (let index = 0; index < this.count; index++) {
      if (this.#isAgain(index, seen)) continue;
      for (const part of [this.#starts, this.#hashes, this.#lengths]) part[kept] = part[index] ?? 0;
      // The entry has another number now.
      this.#note(kept++, seen);
    }
    this.count = kept;
    this.#spread();
  }

  fill(table: Uint16Array | Uint32Array): void {
    const ends = new Uint32Array(this.buckets);
    let at = this.buckets + 1;
    for (let bucket = 0; bucket < this.buckets; bucket++) {
      table[bucket] = at;
      ends[bucket] = at;
      at += this.#counts[bucket] ?? 0;
    }
    table[this.buckets] = at;
    for (let index = 0; index < this.count; index++) {
      const bucket = this.#bucket(index);
      const end = ends[bucket] ?? 0;
      table[end] = this.#starts[index] ?? 0;
      ends[bucket] = end + 1;
    }
  }

  #spread(): void {
    this.buckets = 1;
    while (this.buckets * A_BUCKET < this.count) this.buckets *= 2;
    this.#counts = new Uint32Array(this.buckets);
    for (let index = 0; index < this.count; index++) {
      const bucket = this.#bucket(index);
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    }
  }

  #bucket(index: number): number {
    return (this.#hashes[index] ?? 0) & (this.buckets - 1);
  }

  #isAgain(index: number, seen: Int32Array): boolean {
    const hash = this.#hashes[index] ?? 0;
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const other = seen[(hash + probe) & (seen.length - 1)] ?? -1;
      if (other < 0) return false;
      if (this.#hashes[other] === hash && this.#isSame(index, other)) return true;
    }
    return false;
  }

  #note(index: number, seen: Int32Array): void {
    const hash = this.#hashes[index] ?? 0;
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (hash + probe) & (seen.length - 1);
      if ((seen[slot] ?? -1) >= 0) continue;
      seen[slot] = index;
      return;
    }
  }

  #isSame(a: number, b: number): boolean {
    const [first = 0, second = 0] = [this.#starts[a], this.#starts[b]];
    const length = this.#lengths[a] ?? 0;
    if (length !== this.#lengths[b]) return false;
    for (let at = 0; at < length; at++) {
      if (this.#text.charCodeAt(first + at) !== this.#text.charCodeAt(second + at)) return false;
    }
    return true;
  }
}

// A comma, a blank or the end follows a name, and names have characters from "-" to "z".
function isWithin(code: number): boolean {
  return code >= 45 && code <= 122;
}

/** Whether exactly `name` is at `start`. */
export function isAt(text: string, start: number, name: string): boolean {
  const { length } = name;
  for (let at = 0; at < length; at++) {
    const code = name.charCodeAt(at);
    if (text.charCodeAt(start + at) !== code || !isWithin(code)) return false;
  }
  return start + length >= text.length || !isWithin(text.charCodeAt(start + length));
}

// FNV-1a. The upper half is mixed into the lower, which selects the bucket.
const [OFFSET, PRIME] = [0x811c9dc5, 0x01000193];

function hashOf(name: string): number {
  let hash = OFFSET;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), PRIME);
  return hash ^ (hash >>> 15);
}
