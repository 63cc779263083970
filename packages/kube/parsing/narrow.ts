// Reduces the JSON of one object so that it parses in a few milliseconds, whatever it contains. Labels are
// limited only by the request's size: JSON.parse takes 100 ms for 150,000 of them. Members of a map beyond a
// limit are left out before it is parsed, and so are long lists of managers and owners. Other lists stay
// whole. The text is read once. Invalid JSON stays as it is.

/** Members of one map that are always kept. */
export const MOST_MEMBERS = 2048;
/** Members beyond that limit that are kept because their keys are requested. */
const KEPT_BEYOND = 100;
/** Lists of an object's metadata that are read only if they are short. */
const READ_IF_SHORT = ['managedFields":[', 'ownerReferences":['];
const LONGEST_READ = 16 * 1024;
/** Containers around such a list of an object in a Table. Deeper ones are not an object's own. */
const DEEPEST_READ = 5;
/** `"a":"",` */
const SHORTEST_MEMBER = 7;

const [QUOTE, COMMA, COLON] = [34, 44, 58] as const;
const BACKSLASH = 92;
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [91, 93, 123, 125] as const;

/** `keepKeyPrefixes`: prefixes of keys that are kept beyond the limit. Returns `text` itself if nothing is left out. */
export function narrow(text: string, keepKeyPrefixes: readonly string[]): string {
  if (text.length < MOST_MEMBERS * SHORTEST_MEMBER) return text;
  return new Narrower(text, keepKeyPrefixes).run();
}

type Container = { readonly isMap: boolean; members: number; beyond: number };

class Narrower {
  readonly #text: string;
  readonly #keys: readonly string[];
  readonly #containers: Container[] = [];
  readonly #pieces: string[] = [];
  /** Start of the text that is not yet in a piece. */
  #from = 0;
  /** Number of containers around the member that is being left out. 0 if none. */
  #cut = 0;
  /** Start of the next member, with its comma. */
  #begin = 0;
  #expectsMember = false;
  /** Up to here there are only string members without escapes. */
  #plainUntil = 0;
  /** For each key, its next position, with the comma before it. The text's length if it does not occur. */
  readonly #next: number[] = [];

  constructor(text: string, keepKeyPrefixes: readonly string[]) {
    this.#text = text;
    this.#keys = keepKeyPrefixes;
  }

  run(): string {
    const text = this.#text;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const next = this.#expectsMember ? this.#member(at) : at;
        const end = next > at ? next - 1 : endOfString(text, at);
        if (end < 0) return text;
        at = end;
      } else if (code === COMMA) {
        this.#separate(at);
      } else if (code === OPEN_MAP || code === OPEN_LIST) {
        if (this.#cut === 0) this.#begin = at + 1;
        this.#containers.push({ isMap: code === OPEN_MAP, members: 0, beyond: 0 });
        this.#expectsMember = this.#cut === 0 && code === OPEN_MAP;
      } else if (code === CLOSE_MAP || code === CLOSE_LIST) {
        if (this.#cut === this.#containers.length) this.#resume(at);
        if (!this.#containers.pop()) return text;
        this.#expectsMember = false;
      }
    }
    if (this.#pieces.length === 0 || this.#containers.length > 0) return text;
    this.#pieces.push(text.slice(this.#from));
    return this.#pieces.join("");
  }

  #separate(at: number): void {
    if (this.#cut > 0 && this.#cut !== this.#containers.length) return;
    this.#resume(at);
    this.#begin = at;
    this.#expectsMember = this.#containers.at(-1)?.isMap === true;
  }

  // A member of a map begins at `at`, the quote of its key. Returns where to continue: there, or after the
  // omission.
  #member(at: number): number {
    this.#expectsMember = false;
    const container = this.#containers.at(-1);
    if (!container) return at;
    container.members++;
    const tooMany = container.members > MOST_MEMBERS;
    const unread = tooMany || container.members === 1 ? undefined : this.#unread(at);
    if (tooMany && this.#keepKeyPrefixes(container, at)) container.beyond++;
    else if (tooMany || unread !== undefined) {
      if (this.#begin > this.#from) this.#pieces.push(this.#text.slice(this.#from, this.#begin));
      this.#cut = this.#containers.length;
      return unread ?? this.#endOfRun(at, container);
    }
    return at;
  }

  // The end of the list at `at` if it is one that is not read.
  #unread(at: number): number | undefined {
    const text = this.#text;
    for (const key of READ_IF_SHORT) {
      if (!text.startsWith(key, at + 1)) continue;
      const end = endOfList(text, at + key.length);
      const isShort = end - at <= LONGEST_READ && this.#containers.length <= DEEPEST_READ;
      return end < 0 || isShort ? undefined : end + 1;
    }
    return undefined;
  }

  #keepKeyPrefixes({ beyond }: Container, at: number): boolean {
    if (beyond >= KEPT_BEYOND) return false;
    for (const key of this.#keys) if (this.#text.startsWith(key, at + 1)) return true;
    return false;
  }

  // The end of the run of omitted members: the comma before the next kept member, or the end of the map.
  // Returns `at` itself if finding it needs a check of each character.
  #endOfRun(at: number, container: Container): number {
    const text = this.#text;
    // String members, as in labels and data, are found by native searches, in a tenth of the time.
    if (at >= this.#plainUntil) {
      const close = text.indexOf("}", at);
      if (!this.#endsText(close) || text.charCodeAt(endOfString(text, at) + 2) !== QUOTE) return at;
      for (const sign of ["{", "[", "\\"]) {
        const found = text.indexOf(sign, at);
        if (found >= 0 && found < close) return at;
      }
      this.#plainUntil = close;
    }
    let end = this.#plainUntil;
    if (container.beyond >= KEPT_BEYOND) return end;
    for (const [index, key] of this.#keys.entries()) {
      let next = this.#next[index] ?? -1;
      if (next < at) {
        const found = text.indexOf(`,"${key}`, at);
        next = found < 0 ? text.length : found;
        this.#next[index] = next;
      }
      end = Math.min(end, next);
    }
    return end;
  }

  // Whether the bracket at `close` follows the closing quote of a string, not its opening quote.
  #endsText(close: number): boolean {
    const text = this.#text;
    if (close < 2 || text.charCodeAt(close - 1) !== QUOTE) return false;
    const before = text.charCodeAt(close - 2);
    return before > 32 && before !== COMMA && before !== COLON;
  }

  // The omitted member, if any, has ended before `at`.
  #resume(at: number): void {
    if (this.#cut === 0) return;
    this.#cut = 0;
    this.#from = at;
  }
}

/** The index of the closing quote of the string whose quote is at `start`. -1 if it is not before `limit`. */
function endOfString(text: string, start: number, limit = text.length): number {
  for (let at = start + 1; at < limit;) {
    // A call for each of many short strings takes longer than reading their characters.
    const near = Math.min(limit, at + 64);
    for (; at < near; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code === BACKSLASH) at++;
    }
    const quote = text.indexOf('"', at);
    if (quote < 0 || quote >= limit) return -1;
    if (!isEscaped(text, at, quote)) return quote;
    at = quote + 1;
  }
  return -1;
}

/** Whether backslashes escape the character at `at` in a string. No escape begins before `from`. */
function isEscaped(text: string, from: number, at: number): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

/** The index of the closing bracket of the list that begins at `start`. -1 if it has none. */
function endOfList(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return -1;
    } else if (code === OPEN_LIST) depth++;
    else if (code === CLOSE_LIST && --depth === 0) return at;
  }
  return -1;
}
