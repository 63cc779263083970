// Parses the regular expressions of other tools: RE2 (Go), Python's re and .NET. It does not match. The
// result is a tree over the characters of namespace names and, for Python and .NET, the same pattern in
// JavaScript's syntax. A construct without an exact counterpart makes the whole pattern `unknown`. One that
// the tool's own engine does not accept makes it `refused`.

export type PatternEngine = "RE2" | "Python" | ".NET";

/** A DNS label has no other characters. */
export const NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-";

export type PatternNode =
  /** One character out of `set`, a part of NAME_CHARACTERS. */
  | { readonly kind: "character"; readonly set: string }
  | { readonly kind: "begin" }
  | { readonly kind: "end" }
  /** An assertion or back reference that no glob can express. */
  | { readonly kind: "other" }
  | { readonly kind: "group"; readonly ways: PatternWays }
  | {
      readonly kind: "repeat";
      readonly of: PatternNode;
      readonly least: number;
      readonly most: number;
      readonly greed: "greedy" | "lazy" | "possessive";
    };
/** The alternatives of a group, each a sequence. */
export type PatternWays = readonly (readonly PatternNode[])[];

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

class Unparsed extends Error {
  readonly kind: "refused" | "unknown";

  constructor(kind: "refused" | "unknown") {
    super(kind);
    this.kind = kind;
  }
}

type Piece = { readonly node: PatternNode; readonly source: string };

const DIGITS = "0123456789";
const ANY: Piece = { node: { kind: "character", set: NAME_CHARACTERS }, source: "." };
const BEGIN: Piece = { node: { kind: "begin" }, source: "^" };
const END: Piece = { node: { kind: "end" }, source: "$" };

class PatternParser {
  readonly #engine: PatternEngine;
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #ignoreCase = false;
  /** Groups that are counted, and whether one has a name: .NET numbers those last. */
  #groups = 0;
  #named = false;
  #highestReference = 0;
  #possessives = 0;

  constructor(engine: PatternEngine, text: string) {
    this.#engine = engine;
    this.#text = text;
  }

  parse(): ParsedPattern {
    const flags = this.#leadingFlags();
    const { ways, source } = this.#alternatives();
    // A closing parenthesis without an opening one.
    if (this.#at < this.#text.length) throw new Unparsed("refused");
    if (this.#highestReference > this.#groups) throw new Unparsed("refused");
    if (this.#highestReference > 0 && this.#named) throw new Unparsed("unknown");
    return { kind: "parsed", ways, source, flags: `u${flags}` };
  }

  // "(?i)" at the beginning holds for the whole pattern. A name has no line break, so "m" and "s" change nothing.
  #leadingFlags(): string {
    const [found, letters = ""] = /^\(\?([a-zA-Z]+)\)/.exec(this.#text) ?? [];
    if (found === undefined) return "";
    const harmless = { RE2: "ims", Python: "imsau", ".NET": "imsn" }[this.#engine];
    if (Array.from(letters).some((letter) => !harmless.includes(letter)))
      throw new Unparsed("unknown");
    this.#at = found.length;
    this.#ignoreCase = letters.includes("i");
    return this.#ignoreCase ? "i" : "";
  }

  #alternatives(): { readonly ways: PatternWays; readonly source: string } {
    if (++this.#depth > MOST_NESTED) throw new Unparsed("unknown");
    const ways: (readonly PatternNode[])[] = [];
    const sources: string[] = [];
    do {
      const pieces = this.#sequence();
      ways.push(pieces.map(({ node }) => node));
      sources.push(pieces.map(({ source }) => source).join(""));
    } while (this.#takes("|"));
    this.#depth--;
    return { ways, source: sources.join("|") };
  }

  #sequence(): readonly Piece[] {
    const pieces: Piece[] = [];
    while (this.#at < this.#text.length && !this.#isAt("|") && !this.#isAt(")")) {
      const piece = this.#atom();
      if (piece) pieces.push(this.#repeated(piece));
    }
    return pieces;
  }

  // Undefined for a comment.
  #atom(): Piece | undefined {
    const character = this.#next();
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return this.#characterClass();
      case ".":
        return ANY;
      case "^":
        return BEGIN;
      case "$":
        return END;
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw new Unparsed("refused");
      case "{":
        // A "{" that does not begin a count is a character.
        if (this.#count(this.#at - 1)) throw new Unparsed("refused");
        return this.#character(character);
      default:
        return this.#character(character);
    }
  }

  #group(): Piece | undefined {
    if (!this.#takes("?")) return this.#groupUntilClosed("(", true);
    if (this.#takes(":")) return this.#groupUntilClosed("(?:", false);
    if (this.#takes("#")) return this.#comment();
    const isLook = ["=", "!", "<=", "<!"].find((sign) => this.#takes(sign));
    if (isLook !== undefined) return this.#look(isLook);
    const name = this.#groupName();
    if (name !== undefined) {
      this.#named = true;
      return this.#groupUntilClosed(`(?<${name}>`, true);
    }
    // Atomic groups, conditions, references by name, and flags for a part of the pattern.
    throw new Unparsed("unknown");
  }

  #groupUntilClosed(opening: string, counted: boolean): Piece {
    if (counted) this.#groups++;
    const { ways, source } = this.#alternatives();
    if (!this.#takes(")")) throw new Unparsed("refused");
    return { node: { kind: "group", ways }, source: `${opening}${source})` };
  }

  #look(sign: string): Piece {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    // Python accepts only what has one length behind "<".
    if (this.#engine === "Python" && sign.startsWith("<")) throw new Unparsed("unknown");
    const { source } = this.#groupUntilClosed(`(?${sign}`, false);
    return { node: { kind: "other" }, source };
  }

  #comment(): undefined {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    const end = this.#text.indexOf(")", this.#at);
    if (end < 0) throw new Unparsed("refused");
    this.#at = end + 1;
    return undefined;
  }

  #groupName(): string | undefined {
    const forms = {
      RE2: /^P?<([A-Za-z_]\w*)>/,
      Python: /^P<([A-Za-z_]\w*)>/,
      ".NET": /^(?:<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/,
    };
    const found = forms[this.#engine].exec(this.#text.slice(this.#at, this.#at + 100));
    if (!found) return undefined;
    this.#at += found[0].length;
    return found[1] ?? found[2];
  }

  #repeated(piece: Piece): Piece {
    const bounds = this.#quantifier();
    if (!bounds) return piece;
    const [least, most] = bounds;
    const isAssertion = piece.node.kind !== "character" && piece.node.kind !== "group";
    // Python has "nothing to repeat" before such a sign.
    if (this.#engine === "Python" && isAssertion) {
      throw new Unparsed(piece.node.kind === "other" ? "unknown" : "refused");
    }
    const count = countSource(least, most);
    // In JavaScript only characters and groups are repeated.
    const inner = isAssertion ? `(?:${piece.source})` : piece.source;
    if (this.#takes("?")) {
      return this.#onlyOnce({ ...piece, source: `${inner}${count}?` }, least, most, "lazy");
    }
    if (this.#engine === "Python" && this.#takes("+")) {
      const name = `possessive${++this.#possessives}`;
      this.#named = true;
      const source = `(?=(?<${name}>${inner}${count}))\\k<${name}>`;
      return this.#onlyOnce({ ...piece, source: `(?:${source})` }, least, most, "possessive");
    }
    return this.#onlyOnce({ ...piece, source: `${inner}${count}` }, least, most, "greedy");
  }

  // All three engines refuse a second sign after a repetition.
  #onlyOnce(
    { node, source }: Piece,
    least: number,
    most: number,
    greed: "greedy" | "lazy" | "possessive",
  ): Piece {
    if (this.#quantifier()) throw new Unparsed("refused");
    return { node: { kind: "repeat", of: node, least, most, greed }, source };
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#takes("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#takes("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#takes("?")) return [0, 1];
    if (!this.#isAt("{")) return undefined;
    const count = this.#count(this.#at);
    if (!count) return undefined;
    const [least, most, length] = count;
    if (most < least || (this.#engine === "RE2" && Math.max(least, finite(most)) > MOST_REPEATED)) {
      throw new Unparsed("refused");
    }
    this.#at += length;
    return [least, most];
  }

  /** Minimum, maximum and length of the "{2,3}" at `at`. Undefined when it is not a repetition. */
  #count(at: number): readonly [number, number, number] | undefined {
    const form = this.#engine === "Python" ? /^\{(\d*)(,?)(\d*)\}/ : /^\{(\d+)(,?)(\d*)\}/;
    const found = form.exec(this.#text.slice(at, at + 24));
    if (!found) return undefined;
    const [all, first = "", comma = "", second = ""] = found;
    if (comma === "" && first === "") return undefined;
    const least = Number(first);
    const most = comma === "" ? least : second === "" ? Number.POSITIVE_INFINITY : Number(second);
    return [least, most, all.length];
  }

  #escape(): Piece {
    if (this.#at >= this.#text.length) throw new Unparsed("refused");
    const character = this.#next();
    const set = ESCAPED_SETS[character];
    if (set !== undefined) {
      return { node: { kind: "character", set }, source: `\\${character}` };
    }
    switch (character) {
      case "b":
      case "B":
        return { node: { kind: "other" }, source: `\\${character}` };
      case "A":
        return BEGIN;
      case "z":
        if (this.#engine === "Python") throw new Unparsed("unknown");
        return END;
      case "Z":
        if (this.#engine === "RE2") throw new Unparsed("refused");
        return END;
      default:
    }
    if (/[1-9]/.test(character)) return this.#reference(character);
    return this.#character(this.#escapedCharacter(character));
  }

  #reference(digit: string): Piece {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    if (/\d/.test(this.#peek())) throw new Unparsed("unknown");
    this.#highestReference = Math.max(this.#highestReference, Number(digit));
    return { node: { kind: "other" }, source: `\\${digit}` };
  }

  /** The character that an escaped sign means, in a class or outside. */
  #escapedCharacter(sign: string): string {
    const control = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", a: "\u0007" }[sign];
    if (control !== undefined) return control;
    if (sign === "e" && this.#engine === ".NET") return "\u001b";
    if (sign === "x" || (sign === "u" && this.#engine !== "RE2")) return this.#coded(sign);
    // Properties, quotations, octal codes, names of characters: each engine has its own.
    if (/[a-zA-Z0-9]/.test(sign)) throw new Unparsed("unknown");
    return sign;
  }

  #coded(sign: string): string {
    const digits = sign === "x" ? 2 : 4;
    const code = this.#text.slice(this.#at, this.#at + digits);
    if (!/^[0-9a-fA-F]+$/.test(code) || code.length < digits) throw new Unparsed("unknown");
    this.#at += digits;
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  #character(character: string): Piece {
    const own = this.#ignoreCase ? character.toLowerCase() : character;
    const set = NAME_CHARACTERS.includes(own) ? own : "";
    return { node: { kind: "character", set }, source: codePoint(character) };
  }

  #characterClass(): Piece {
    const negated = this.#takes("^");
    const ranges: (readonly [string, string])[] = [];
    const sets: string[] = [];
    const sources: string[] = [];
    // "]" at the beginning is a character.
    for (let first = true; first || !this.#isAt("]"); first = false) {
      if (this.#at >= this.#text.length) throw new Unparsed("refused");
      const low = this.#member();
      if (low.kind === "set") {
        sets.push(low.set);
        sources.push(low.source);
        if (this.#isAt("-") && this.#peek(1) !== "]") throw new Unparsed("unknown");
        continue;
      }
      let high = low.character;
      if (this.#isAt("-") && this.#peek(1) !== "]" && this.#at + 1 < this.#text.length) {
        this.#at++;
        const end = this.#member();
        if (end.kind === "set" || end.character < low.character) throw new Unparsed("refused");
        high = end.character;
      }
      ranges.push([low.character, high]);
      sources.push(
        high === low.character ? codePoint(high) : `${codePoint(low.character)}-${codePoint(high)}`,
      );
    }
    this.#at++;
    const isIn = (character: string): boolean =>
      sets.some((set) => set.includes(character)) ||
      ranges.some(([low, high]) =>
        this.#spellings(character).some((one) => low <= one && one <= high),
      );
    const set = Array.from(NAME_CHARACTERS)
      .filter((character) => isIn(character) !== negated)
      .join("");
    const source = `[${negated ? "^" : ""}${sources.join("")}]`;
    return { node: { kind: "character", set }, source };
  }

  #spellings(character: string): readonly string[] {
    return this.#ignoreCase ? [character, character.toUpperCase()] : [character];
  }

  #member():
    | { readonly kind: "character"; readonly character: string }
    | { readonly kind: "set"; readonly set: string; readonly source: string } {
    const character = this.#next();
    if (character === "[" && this.#engine === "RE2" && this.#isAt(":"))
      throw new Unparsed("unknown");
    // .NET takes the class behind "-" out of the class before it.
    if (character === "-" && this.#engine === ".NET" && this.#isAt("[")) {
      throw new Unparsed("unknown");
    }
    if (character !== "\\") return { kind: "character", character };
    if (this.#at >= this.#text.length) throw new Unparsed("refused");
    const sign = this.#next();
    const set = ESCAPED_SETS[sign];
    if (set !== undefined) return { kind: "set", set, source: `\\${sign}` };
    if (sign === "b" && this.#engine !== "RE2") return { kind: "character", character: "\b" };
    return { kind: "character", character: this.#escapedCharacter(sign) };
  }

  /** One code point. */
  #next(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #peek(ahead = 0): string {
    return this.#text.charAt(this.#at + ahead);
  }

  #isAt(sign: string): boolean {
    return this.#text.startsWith(sign, this.#at);
  }

  #takes(sign: string): boolean {
    if (!this.#isAt(sign)) return false;
    this.#at += sign.length;
    return true;
  }
}

/** The part of NAME_CHARACTERS in each Perl class. */
const ESCAPED_SETS: Readonly<Partial<Record<string, string>>> = {
  d: DIGITS,
  D: NAME_CHARACTERS.replaceAll(/\d/g, ""),
  w: NAME_CHARACTERS.replaceAll("-", ""),
  W: "-",
  s: "",
  S: NAME_CHARACTERS,
};

function codePoint(character: string): string {
  return /^[a-zA-Z0-9]$/.test(character)
    ? character
    : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function countSource(least: number, most: number): string {
  return `{${least},${Number.isFinite(most) ? most : ""}}`;
}

function finite(count: number): number {
  return Number.isFinite(count) ? count : 0;
}
