// Parses the regular expressions of other tools: RE2 (Go), Python's re and .NET. It does not match. The
// result is a tree over the characters of namespace names and, for Python and .NET, the same pattern in
// JavaScript's syntax. A construct without an exact counterpart makes the whole pattern `unknown`. One that
// the tool's own engine does not accept makes it `refused`.

import { PatternCharacters, type PatternPiece } from "./pattern-characters.ts";
import { PatternCursor, Unparsed, type PatternEngine } from "./pattern-cursor.ts";
import { NAME_CHARACTERS, type PatternNode, type PatternWays } from "./pattern-tree.ts";

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
    return new PatternParser(new PatternCursor(engine, pattern)).parse();
  } catch (error) {
    if (error instanceof Unparsed) return { kind: error.kind };
    throw error;
  }
}

const ANY: PatternPiece = { node: { kind: "character", set: NAME_CHARACTERS }, source: "." };
const BEGIN: PatternPiece = { node: { kind: "begin" }, source: "^" };
const END: PatternPiece = { node: { kind: "end" }, source: "$" };

class PatternParser {
  readonly #cursor: PatternCursor;
  readonly #engine: PatternEngine;
  readonly #flags: string;
  readonly #characters: PatternCharacters;
  #depth = 0;
  /** Groups that are counted, and whether one has a name: .NET numbers those last. */
  #groups = 0;
  #named = false;
  #highestReference = 0;
  #possessives = 0;

  constructor(cursor: PatternCursor) {
    this.#cursor = cursor;
    this.#engine = cursor.engine;
    this.#flags = leadingFlags(cursor);
    this.#characters = new PatternCharacters(cursor, this.#flags.includes("i"));
  }

  parse(): ParsedPattern {
    const { ways, source } = this.#alternatives();
    // A closing parenthesis without an opening one.
    if (!this.#cursor.atEnd) throw new Unparsed("refused");
    if (this.#highestReference > this.#groups) throw new Unparsed("refused");
    if (this.#highestReference > 0 && this.#named) throw new Unparsed("unknown");
    return { kind: "parsed", ways, source, flags: `u${this.#flags}` };
  }

  #alternatives(): { readonly ways: PatternWays; readonly source: string } {
    if (++this.#depth > MOST_NESTED) throw new Unparsed("unknown");
    const ways: (readonly PatternNode[])[] = [];
    const sources: string[] = [];
    do {
      const pieces = this.#sequence();
      ways.push(pieces.map(({ node }) => node));
      sources.push(pieces.map(({ source }) => source).join(""));
    } while (this.#cursor.takes("|"));
    this.#depth--;
    return { ways, source: sources.join("|") };
  }

  #sequence(): readonly PatternPiece[] {
    const pieces: PatternPiece[] = [];
    while (!this.#cursor.atEnd && !this.#cursor.isAt("|") && !this.#cursor.isAt(")")) {
      const piece = this.#atom();
      if (piece) pieces.push(this.#repeated(piece));
    }
    return pieces;
  }

  // Undefined for a comment.
  #atom(): PatternPiece | undefined {
    if (countHere(this.#cursor)) throw new Unparsed("refused");
    const character = this.#cursor.next();
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return this.#characters.group();
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
      default:
        // With a "{" that does not begin a count.
        return this.#characters.literal(character);
    }
  }

  #group(): PatternPiece | undefined {
    if (!this.#cursor.takes("?")) return this.#groupUntilClosed("(", true);
    if (this.#cursor.takes(":")) return this.#groupUntilClosed("(?:", false);
    if (this.#cursor.takes("#")) return this.#comment();
    const isLook = ["=", "!", "<=", "<!"].find((sign) => this.#cursor.takes(sign));
    if (isLook !== undefined) return this.#look(isLook);
    const name = this.#groupName();
    if (name !== undefined) {
      this.#named = true;
      return this.#groupUntilClosed(`(?<${name}>`, true);
    }
    // Atomic groups, conditions, references by name, and flags for a part of the pattern.
    throw new Unparsed("unknown");
  }

  #groupUntilClosed(opening: string, counted: boolean): PatternPiece {
    if (counted) this.#groups++;
    const { ways, source } = this.#alternatives();
    if (!this.#cursor.takes(")")) throw new Unparsed("refused");
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
    if (this.#engine === "RE2") throw new Unparsed("refused");
    if (!this.#cursor.take(/^[^)]*\)/, Number.POSITIVE_INFINITY)) throw new Unparsed("refused");
    return undefined;
  }

  #groupName(): string | undefined {
    const forms = {
      RE2: /^P?<([A-Za-z_]\w*)>/,
      Python: /^P<([A-Za-z_]\w*)>/,
      ".NET": /^(?:<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/,
    };
    const found = this.#cursor.take(forms[this.#engine], 100);
    return found?.[1] ?? found?.[2];
  }

  #repeated(piece: PatternPiece): PatternPiece {
    const bounds = quantifier(this.#cursor);
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
    if (this.#cursor.takes("?")) {
      return this.#onlyOnce({ ...piece, source: `${inner}${count}?` }, least, most, "lazy");
    }
    if (this.#engine === "Python" && this.#cursor.takes("+")) {
      const name = `possessive${++this.#possessives}`;
      this.#named = true;
      const source = `(?=(?<${name}>${inner}${count}))\\k<${name}>`;
      return this.#onlyOnce({ ...piece, source: `(?:${source})` }, least, most, "possessive");
    }
    return this.#onlyOnce({ ...piece, source: `${inner}${count}` }, least, most, "greedy");
  }

  // All three engines refuse a second sign after a repetition.
  #onlyOnce(
    { node, source }: PatternPiece,
    least: number,
    most: number,
    greed: "greedy" | "lazy" | "possessive",
  ): PatternPiece {
    if (quantifier(this.#cursor)) throw new Unparsed("refused");
    return { node: { kind: "repeat", of: node, least, most, greed }, source };
  }

  #escape(): PatternPiece {
    if (this.#cursor.atEnd) throw new Unparsed("refused");
    const sign = this.#cursor.next();
    switch (sign) {
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
        return /[1-9]/.test(sign) ? this.#reference(sign) : this.#characters.escaped(sign);
    }
  }

  #reference(digit: string): PatternPiece {
    if (this.#engine === "RE2") throw new Unparsed("refused");
    if (/\d/.test(this.#cursor.peek())) throw new Unparsed("unknown");
    this.#highestReference = Math.max(this.#highestReference, Number(digit));
    return { node: { kind: "other" }, source: `\\${digit}` };
  }
}

// "(?i)" at the beginning holds for the whole pattern. A name has no line break, so "m" and "s" change nothing.
function leadingFlags(cursor: PatternCursor): string {
  const [, letters = ""] = cursor.take(/^\(\?([a-zA-Z]+)\)/, Number.POSITIVE_INFINITY) ?? [];
  const harmless = { RE2: "ims", Python: "imsau", ".NET": "imsn" }[cursor.engine];
  if (Array.from(letters).some((letter) => !harmless.includes(letter)))
    throw new Unparsed("unknown");
  return letters.includes("i") ? "i" : "";
}

/** The bounds of the repetition that the cursor takes. Undefined when there is none. */
function quantifier(cursor: PatternCursor): readonly [number, number] | undefined {
  if (cursor.takes("*")) return [0, Number.POSITIVE_INFINITY];
  if (cursor.takes("+")) return [1, Number.POSITIVE_INFINITY];
  if (cursor.takes("?")) return [0, 1];
  const count = countHere(cursor);
  if (!count) return undefined;
  const [least, most, text] = count;
  const tooMany = Math.max(least, finite(most)) > MOST_REPEATED;
  if (most < least || (cursor.engine === "RE2" && tooMany)) throw new Unparsed("refused");
  cursor.takes(text);
  return [least, most];
}

/** Minimum, maximum and text of the "{2,3}" at the cursor. Undefined when there is no such repetition. */
function countHere(cursor: PatternCursor): readonly [number, number, string] | undefined {
  const form = cursor.engine === "Python" ? /^\{(\d*)(,?)(\d*)\}/ : /^\{(\d+)(,?)(\d*)\}/;
  const [text, first = "", comma = "", second = ""] = cursor.match(form, 24) ?? [];
  if (text === undefined || (comma === "" && first === "")) return undefined;
  const least = Number(first);
  const most = comma === "" ? least : second === "" ? Number.POSITIVE_INFINITY : Number(second);
  return [least, most, text];
}

function countSource(least: number, most: number): string {
  return `{${least},${Number.isFinite(most) ? most : ""}}`;
}

function finite(count: number): number {
  return Number.isFinite(count) ? count : 0;
}
