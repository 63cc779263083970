// Parses the regular expressions of other tools: RE2 (Go), Python's re and .NET. It does not match. The
// result is a tree over the characters of namespace names and, for Python and .NET, the same pattern in
// JavaScript's syntax. A construct without an exact counterpart makes the whole pattern `unknown`. One that
// the tool's own engine does not accept makes it `refused`.
import { classPiece, escapedPiece, escapeForm, literalPiece } from "./pattern-characters.ts";
import {
  NAME_CHARACTERS,
  Unparsed,
  type PatternEngine,
  type PatternNode,
  type PatternPiece,
  type PatternWays,
} from "./pattern-tree.ts";

export type ParsedPattern =
  | {
      readonly kind: "parsed";
      readonly ways: PatternWays;
      /** The pattern for JavaScript's engine with `flags`, which include "u". */
      readonly source: string;
      readonly flags: string;
    }
  | { readonly kind: "refused" }
  | { readonly kind: "unknown" };

/** Go and the sources of both other engines limit a counted repetition. Globs need no higher limit. */
const MOST_REPEATED = 1000;
const MOST_NESTED = 100;

export function parsePattern(engine: PatternEngine, pattern: string): ParsedPattern {
  try {
    return new PatternParser(engine, pattern).parse();
  } catch (error) {
    if (error instanceof Unparsed) return { kind: error.kind };
    throw error;
  }
}

const ANY: PatternPiece = { node: { kind: "character", set: NAME_CHARACTERS }, source: "." };
const BEGIN: PatternPiece = { node: { kind: "begin" }, source: "^" };
const END: PatternPiece = { node: { kind: "end" }, source: "$" };
const SIGNS: Readonly<Partial<Record<string, PatternPiece>>> = { ".": ANY, "^": BEGIN, $: END };

/** Flags that change nothing or only case: a name has no line break, so "m" and "s" change nothing. */
const FLAGS = { RE2: "ims", Python: "imsau", ".NET": "imsn" } as const;

/** Lengths in digits are limited, since no engine accepts more. */
const COUNTS = {
  RE2: /[*+?]|\{(\d{1,20})(,?)(\d{0,20})\}/y,
  Python: /[*+?]|\{(?=[\d,])(\d{0,20})(,?)(\d{0,20})\}/y,
  ".NET": /[*+?]|\{(\d{1,20})(,?)(\d{0,20})\}/y,
} as const;

const GROUP_NAMES = {
  RE2: /P?<([A-Za-z_]\w*)>/y,
  Python: /P<([A-Za-z_]\w*)>/y,
  ".NET": /<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y,
} as const;

class PatternParser {
  readonly #engine: PatternEngine;
  readonly #text: string;
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;
  /** Groups that are counted, and whether one has a name: .NET numbers those last. */
  #groups = 0;
  #named = false;
  #highestReference = 0;
  #possessives = 0;

  constructor(engine: PatternEngine, text: string) {
    this.#engine = engine;
    this.#text = text;
    // At the beginning they hold for the whole pattern.
    const [, letters = ""] = this.#take(/\(\?([a-zA-Z]+)\)/y) ?? [];
    if (Array.from(letters).some((letter) => !FLAGS[engine].includes(letter)))
      throw new Unparsed("unknown");
    this.#ignoreCase = letters.includes("i");
  }

  parse(): ParsedPattern {
    const { ways, source } = this.#alternatives();
    // A closing parenthesis without an opening one.
    if (this.#at < this.#text.length) throw new Unparsed("refused");
    if (this.#highestReference > this.#groups) throw new Unparsed("refused");
    if (this.#highestReference > 0 && this.#named) throw new Unparsed("unknown");
    return { kind: "parsed", ways, source, flags: this.#ignoreCase ? "ui" : "u" };
  }

  /** What a sticky `form` finds here. Continues behind it. */
  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text) ?? undefined;
    if (found) this.#at = form.lastIndex;
    return found;
  }

  #alternatives(): { readonly ways: PatternWays; readonly source: string } {
    if (++this.#depth > MOST_NESTED) throw new Unparsed("unknown");
    const ways: (readonly PatternNode[])[] = [];
    const sources: string[] = [];
    do {
      const pieces = this.#sequence();
      ways.push(pieces.map(({ node }) => node));
      sources.push(pieces.map(({ source }) => source).join(""));
    } while (this.#take(/\|/y));
    this.#depth--;
    return { ways, source: sources.join("|") };
  }

  #sequence(): readonly PatternPiece[] {
    const pieces: PatternPiece[] = [];
    while (this.#take(/(?=[^|)])/y)) {
      const piece = this.#atom();
      if (piece) pieces.push(this.#repeated(piece));
    }
    return pieces;
  }

  // Undefined for a comment.
  #atom(): PatternPiece | undefined {
    if (this.#bounds()) throw new Unparsed("refused");
    if (this.#take(/\(/y)) return this.#group();
    // "]" at the beginning is a character.
    const [, negation, members] =
      this.#take(/\[(\^|(?!\^))((?:\\[^]|[^\\])(?:\\[^]|[^\]\\])*)\]/uy) ?? [];
    if (members !== undefined)
      return classPiece(members, negation === "^", this.#engine, this.#ignoreCase);
    const escape = this.#take(escapeForm("uy"));
    if (escape) return this.#escape(escape[1]);
    // Also a "{" that does not begin a count.
    const [character = ""] = this.#take(/[^]/uy) ?? [];
    if (character === "[") throw new Unparsed("refused");
    return SIGNS[character] ?? literalPiece(character, this.#ignoreCase);
  }

  #group(): PatternPiece | undefined {
    if (!this.#take(/\?/y)) return this.#groupUntilClosed("(", true);
    if (this.#take(/:/y)) return this.#groupUntilClosed("(?:", false);
    if (this.#take(/#/y)) return this.#comment();
    const [look] = this.#take(/<?[=!]/y) ?? [];
    if (look !== undefined) return this.#look(look);
    const [, bare, quoted] = this.#take(GROUP_NAMES[this.#engine]) ?? [];
    const name = bare ?? quoted;
    // Atomic groups, conditions, references by name, and flags for a part of the pattern.
    if (name === undefined) throw new Unparsed("unknown");
    this.#named = true;
    return this.#groupUntilClosed(`(?<${name}>`, true);
  }

  #groupUntilClosed(opening: string, counted: boolean): PatternPiece {
    if (counted) this.#groups++;
    const { ways, source } = this.#alternatives();
    if (!this.#take(/\)/y)) throw new Unparsed("refused");
    return { node: { kind: "group", ways }, source: `${opening}${source})` };
  }

  #look(sign: string): PatternPiece {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    // Python accepts only what has one length behind "<".
    if (this.#engine === "Python" && sign.startsWith("<")) throw new Unparsed("unknown");
    const { source } = this.#groupUntilClosed(`(?${sign}`, false);
    return { node: { kind: "other" }, source };
  }

  #comment(): undefined {
    if (this.#engine === "RE2" || !this.#take(/[^)]*\)/y)) throw new Unparsed("refused");
  }

  #repeated({ node, source }: PatternPiece): PatternPiece {
    const bounds = this.#bounds();
    if (!bounds) return { node, source };
    const [least, most] = bounds;
    const isAssertion = node.kind !== "character" && node.kind !== "group";
    // Python has "nothing to repeat" before such a sign.
    if (this.#engine === "Python" && isAssertion) {
      throw new Unparsed(node.kind === "other" ? "unknown" : "refused");
    }
    // In JavaScript only characters and groups are repeated.
    const inner = isAssertion ? `(?:${source})` : source;
    const counted = `${inner}{${least},${Number.isFinite(most) ? most : ""}}`;
    const isLazy = this.#take(/\?/y) !== undefined;
    const isPossessive = !isLazy && this.#engine === "Python" && this.#take(/\+/y) !== undefined;
    const greed = isLazy ? "lazy" : isPossessive ? "possessive" : "greedy";
    // All three engines refuse a second sign after a repetition.
    if (this.#bounds()) throw new Unparsed("refused");
    const repeated = isPossessive ? this.#possessive(counted) : `${counted}${isLazy ? "?" : ""}`;
    return { node: { kind: "repeat", of: node, least, most, greed }, source: repeated };
  }

  #possessive(source: string): string {
    const name = `possessive${++this.#possessives}`;
    this.#named = true;
    return `(?:(?=(?<${name}>${source}))\\k<${name}>)`;
  }

  /** The bounds of the repetition that begins here. Undefined when there is none. */
  #bounds(): readonly [number, number] | undefined {
    const [sign, first, comma, second] = this.#take(COUNTS[this.#engine]) ?? [];
    if (sign === undefined) return undefined;
    const unlimited = Number.POSITIVE_INFINITY;
    if (first === undefined) return [sign === "+" ? 1 : 0, sign === "?" ? 1 : unlimited];
    const least = Number(first);
    const most = comma === "" ? least : second === "" ? unlimited : Number(second);
    const highest = most === unlimited ? least : most;
    const tooMany = this.#engine === "RE2" && highest > MOST_REPEATED;
    if (most < least || tooMany) throw new Unparsed("refused");
    return [least, most];
  }

  #escape(sign: string | undefined): PatternPiece {
    switch (sign) {
      case undefined:
        throw new Unparsed("refused");
      case "b":
      case "B":
        return { node: { kind: "other" }, source: `\\${sign}` };
      case "A":
        return BEGIN;
      case "z":
        if (this.#engine === "Python") throw new Unparsed("unknown");
        return END;
      case "Z":
        if (this.#engine === "RE2") throw new Unparsed("refused");
        return END;
      default:
        if (/^[1-9]/.test(sign)) return this.#reference(sign);
        return escapedPiece(sign, this.#engine, this.#ignoreCase);
    }
  }

  #reference(digit: string): PatternPiece {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    if (this.#take(/\d/y)) throw new Unparsed("unknown");
    this.#highestReference = Math.max(this.#highestReference, Number(digit));
    return { node: { kind: "other" }, source: `\\${digit}` };
  }
}
