// The offsets of names in a user's list, in a table by a keyed hash, so that no user can choose names whose
// look-up is slow. It stores no name. Each name takes four to eight bytes, or twice that in a list of more than
// 64 KiB.
import { keyedHash, randomHashKey } from "./keyed-hash.ts";

/** Steps of 10 ns that a look-up takes. */
export const STEPS_A_LOOK_UP = 8;

const KEY = randomHashKey();

export class NameIndex {
  readonly #text: string;
  /** A slot has the offset of a name and 1, or 0. At least half of the slots are empty. */
  #table: Uint16Array | Uint32Array = new Uint16Array(1);

  /** `starts`: the offsets of names in `text`, ascending. */
  constructor(text: string, starts: readonly number[]) {
    this.#text = text;
    const firsts = this.#fill(starts);
    // A list that repeats names needs a smaller table.
    if (firsts.length < starts.length) this.#fill(firsts);
  }

  /** The first offset of `name` in the text. -1 if it is not in the list. */
  find(name: string): number {
    return (this.#table[this.#slotOf(name)] ?? 0) - 1;
  }

  /** Returns the offsets at which a name is for the first time. */
  #fill(starts: readonly number[]): readonly number[] {
    const slots = 2 ** Math.ceil(Math.log2(2 * starts.length));
    this.#table = this.#text.length < 2 ** 16 ? new Uint16Array(slots) : new Uint32Array(slots);
    return starts.filter((start) => {
      const slot = this.#slotOf(nameAt(this.#text, start));
      if (this.#table[slot] !== 0) return false;
      this.#table[slot] = start + 1;
      return true;
    });
  }

  /** The slot of `name`, or the empty one for it. */
  #slotOf(name: string): number {
    const mask = this.#table.length - 1;
    let slot = keyedHash(name, KEY) & mask;
    for (;;) {
      const place = this.#table[slot] ?? 0;
      if (place === 0 || isAt(this.#text, place - 1, name)) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

function nameAt(text: string, start: number): string {
  let end = start;
  while (isWithin(text.charCodeAt(end))) end++;
  return text.slice(start, end);
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
