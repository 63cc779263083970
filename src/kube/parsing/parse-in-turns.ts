// JSON.parse in steps. It takes 20 ms for a text of 6 MiB that consists of escapes, which the API server writes
// for a value of 1 MiB. Here a long text is parsed in pieces: the members of a map or a list in groups, a long
// string in parts. It returns the same result as JSON.parse and refuses the same texts.
import {
  CLOSE_LIST,
  CLOSE_MAP,
  COLON,
  COMMA,
  endOfString,
  isEscaped,
  OPEN_LIST,
  OPEN_MAP,
  QUOTE,
} from "./narrow.ts";

/**
 * JSON.parse takes 7 ms at most for this many characters. Only an object with many escapes is longer, or a page
 * of large ones.
 */
const SHORT = 3 * 2 ** 20;
/** Characters of a longer text that JSON.parse receives at once: 2 ms. */
const PIECE = 2 ** 19;

const SPACES: ReadonlySet<number> = new Set([9, 10, 13, 32]);
const ENDS_PLAIN: ReadonlySet<number> = new Set([...SPACES, COMMA, CLOSE_LIST, CLOSE_MAP]);
const LONGEST_ESCAPE = String.raw`\uFFFF`.length;

/** Yields between pieces. Throws a SyntaxError if `text` is not JSON. `piece`: characters, 8 or more. */
export function* parseInTurns(
  text: string,
  short = SHORT,
  piece = PIECE,
): Generator<undefined, unknown> {
  if (text.length <= short) return JSON.parse(text);
  const reader = new Reader(text, piece);
  const value = yield* reader.value();
  reader.end();
  return value;
}

/** The keys of list members are empty. */
type Member = readonly [key: string, value: unknown];

class Reader {
  readonly #text: string;
  readonly #piece: number;
  #at = 0;

  constructor(text: string, piece: number) {
    this.#text = text;
    this.#piece = piece;
  }

  *value(): Generator<undefined, unknown> {
    const code = this.#next();
    const end = this.#endOfShort(this.#at);
    if (end >= 0) return this.#parse(end);
    yield;
    if (code === QUOTE) return yield* this.#string();
    if (code === OPEN_LIST) return (yield* this.#members(CLOSE_LIST)).map(([, item]) => item);
    // Not by assignment: a key such as __proto__ is an ordinary member.
    if (code === OPEN_MAP) return Object.fromEntries(yield* this.#members(CLOSE_MAP));
    throw this.#wrong();
  }

  end(): void {
    this.#next();
    if (this.#at < this.#text.length) throw this.#wrong();
  }

  // Short values are parsed together with their neighbours.
  *#members(close: number): Generator<undefined, readonly Member[]> {
    const members: Member[] = [];
    this.#at++;
    if (this.#next() === close) {
      this.#at++;
      return members;
    }
    for (let [from, to] = [this.#at, this.#at]; ;) {
      const keyAt = this.#at;
      const keyEnd = close === CLOSE_MAP ? this.#skipKey() : keyAt;
      this.#next();
      const end = this.#endOfShort(this.#at);
      if (end >= 0) [this.#at, to] = [end, end];
      else {
        this.#group(from, to, close, members);
        const key = keyEnd > keyAt ? String(JSON.parse(this.#text.slice(keyAt, keyEnd))) : "";
        members.push([key, yield* this.value()]);
        [from, to] = [this.#at, this.#at];
      }
      const code = this.#next();
      if (code !== COMMA && code !== close) throw this.#wrong();
      this.#at++;
      if (code === close) {
        this.#group(from, to, close, members);
        return members;
      }
      this.#next();
      if (to - from < this.#piece && to > from) continue;
      this.#group(from, to, close, members);
      [from, to] = [this.#at, this.#at];
      yield;
    }
  }

  #group(from: number, to: number, close: number, members: Member[]): void {
    if (to === from) return;
    const text = this.#text.slice(from, to);
    if (close === CLOSE_MAP)
      for (const member of Object.entries(JSON.parse(`{${text}}`))) members.push(member);
    else for (const item of JSON.parse(`[${text}]`)) members.push(["", item]);
  }

  /** Skips the key that begins here. Returns its end, where the value follows. */
  #skipKey(): number {
    const end = this.#text.charCodeAt(this.#at) === QUOTE ? endOfString(this.#text, this.#at) : -1;
    if (end < 0) throw this.#wrong();
    this.#at = end + 1;
    if (this.#next() !== COLON) throw this.#wrong();
    this.#at++;
    return end + 1;
  }

  *#string(): Generator<undefined, string> {
    const parts: string[] = [];
    for (let from = this.#at + 1; ;) {
      const close = endOfString(this.#text, from - 1, from + this.#piece);
      const to = close < 0 ? this.#cut(from, from + this.#piece) : close;
      parts.push(String(JSON.parse(`"${this.#text.slice(from, to)}"`)));
      from = to;
      if (close < 0) yield;
      else {
        this.#at = close + 1;
        return parts.join("");
      }
    }
  }

  /** The last index up to `to` that is not inside an escape of the string part that begins at `from`. */
  #cut(from: number, to: number): number {
    if (to >= this.#text.length) throw this.#wrong();
    const last = this.#text.lastIndexOf("\\", to - 1);
    if (last <= from || last < to - LONGEST_ESCAPE) return to;
    return isEscaped(this.#text, from, last) ? to : last;
  }

  /** The end of the value at `start`. -1 if it is missing or longer than a piece. */
  #endOfShort(start: number): number {
    const code = this.#text.charCodeAt(start);
    if (code !== OPEN_LIST && code !== OPEN_MAP && code !== QUOTE) return this.#endOfPlain(start);
    const limit = Math.min(this.#text.length, start + this.#piece);
    for (let at = start, depth = 0; at < limit; at++) {
      const each = this.#text.charCodeAt(at);
      if (each === QUOTE) {
        at = endOfString(this.#text, at, limit);
        if (at < 0) return -1;
      } else if (each === OPEN_LIST || each === OPEN_MAP) depth++;
      else if (each === CLOSE_LIST || each === CLOSE_MAP) depth--;
      if (depth === 0 && (each === QUOTE || each === CLOSE_LIST || each === CLOSE_MAP))
        return at + 1;
    }
    return -1;
  }

  // The end of a number or of a literal such as null.
  #endOfPlain(start: number): number {
    let at = start;
    while (at < this.#text.length && !ENDS_PLAIN.has(this.#text.charCodeAt(at))) at++;
    return at > start ? at : -1;
  }

  #parse(end: number): unknown {
    const value: unknown = JSON.parse(this.#text.slice(this.#at, end));
    this.#at = end;
    return value;
  }

  /** The code of the next character that is not a space. NaN at the end. */
  #next(): number {
    while (SPACES.has(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }

  // Does not quote the text, which may contain a value of a Secret.
  #wrong(): SyntaxError {
    return new SyntaxError(`no JSON at character ${this.#at}`);
  }
}
