// A place in the text of a pattern, and the engine that the pattern is for.

export type PatternEngine = "RE2" | "Python" | ".NET";

/**
 * Ends the parsing of a pattern. `unknown`: a construct has no exact counterpart. `refused`: the tool's own
 * engine does not accept the pattern.
 */
export class Unparsed extends Error {
  readonly kind: "refused" | "unknown";

  constructor(kind: "refused" | "unknown") {
    super(kind);
    this.kind = kind;
  }
}

export class PatternCursor {
  readonly engine: PatternEngine;
  readonly #text: string;
  #at = 0;

  constructor(engine: PatternEngine, text: string) {
    this.engine = engine;
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** One code point. */
  next(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  peek(ahead = 0): string {
    return this.#text.charAt(this.#at + ahead);
  }

  isAt(sign: string): boolean {
    return this.#text.startsWith(sign, this.#at);
  }

  takes(sign: string): boolean {
    if (!this.isAt(sign)) return false;
    this.#at += sign.length;
    return true;
  }

  /** What `form` finds here within `most` characters. It must begin with "^". */
  match(form: RegExp, most: number): RegExpExecArray | undefined {
    return form.exec(this.#text.slice(this.#at, this.#at + most)) ?? undefined;
  }

  /** Like match. Continues behind what was found. */
  take(form: RegExp, most: number): RegExpExecArray | undefined {
    const found = this.match(form, most);
    if (found) this.#at += found[0].length;
    return found;
  }
}
