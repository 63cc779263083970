// The characters of a pattern: literals, escapes and classes.
import { Unparsed, type PatternCursor } from "./pattern-cursor.ts";
import { NAME_CHARACTERS, type PatternNode } from "./pattern-tree.ts";

/** A part of a pattern, also in JavaScript's syntax. */
export type PatternPiece = { readonly node: PatternNode; readonly source: string };

type Member =
  | { readonly kind: "character"; readonly character: string }
  | { readonly kind: "set"; readonly set: string; readonly source: string };

/** The part of NAME_CHARACTERS in each Perl class. */
const ESCAPED_SETS: Readonly<Partial<Record<string, string>>> = {
  d: "0123456789",
  D: NAME_CHARACTERS.replaceAll(/\d/g, ""),
  w: NAME_CHARACTERS.replaceAll("-", ""),
  W: "-",
  s: "",
  S: NAME_CHARACTERS,
};

export class PatternCharacters {
  readonly #cursor: PatternCursor;
  readonly #ignoreCase: boolean;

  constructor(cursor: PatternCursor, ignoreCase: boolean) {
    this.#cursor = cursor;
    this.#ignoreCase = ignoreCase;
  }

  literal(character: string): PatternPiece {
    const own = this.#ignoreCase ? character.toLowerCase() : character;
    const set = NAME_CHARACTERS.includes(own) ? own : "";
    return { node: { kind: "character", set }, source: codePoint(character) };
  }

  /** What an escaped sign means outside a class. The cursor is behind the sign. */
  escaped(sign: string): PatternPiece {
    const set = ESCAPED_SETS[sign];
    if (set !== undefined) return { node: { kind: "character", set }, source: `\\${sign}` };
    return this.literal(this.#escapedCharacter(sign));
  }

  /** A class. The cursor is behind its "[". */
  group(): PatternPiece {
    const cursor = this.#cursor;
    const negated = cursor.takes("^");
    const ranges: (readonly [string, string])[] = [];
    const sets: string[] = [];
    const sources: string[] = [];
    // "]" at the beginning is a character.
    for (let first = true; first || !cursor.isAt("]"); first = false) {
      if (cursor.atEnd) throw new Unparsed("refused");
      const low = this.#member();
      if (low.kind === "set") {
        sets.push(low.set);
        sources.push(low.source);
        if (cursor.isAt("-") && cursor.peek(1) !== "]") throw new Unparsed("unknown");
        continue;
      }
      const high = this.#endOfRange(low.character);
      ranges.push([low.character, high]);
      sources.push(
        high === low.character ? codePoint(high) : `${codePoint(low.character)}-${codePoint(high)}`,
      );
    }
    cursor.takes("]");
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

  /** `low` itself when no range follows. */
  #endOfRange(low: string): string {
    const cursor = this.#cursor;
    if (!cursor.isAt("-") || ["", "]"].includes(cursor.peek(1))) return low;
    cursor.takes("-");
    const end = this.#member();
    if (end.kind === "set" || end.character < low) throw new Unparsed("refused");
    return end.character;
  }

  #spellings(character: string): readonly string[] {
    return this.#ignoreCase ? [character, character.toUpperCase()] : [character];
  }

  #member(): Member {
    const cursor = this.#cursor;
    const character = cursor.next();
    if (character === "[" && cursor.engine === "RE2" && cursor.isAt(":"))
      throw new Unparsed("unknown");
    // .NET takes the class behind "-" out of the class before it.
    if (character === "-" && cursor.engine === ".NET" && cursor.isAt("["))
      throw new Unparsed("unknown");
    if (character !== "\\") return { kind: "character", character };
    if (cursor.atEnd) throw new Unparsed("refused");
    const sign = cursor.next();
    const set = ESCAPED_SETS[sign];
    if (set !== undefined) return { kind: "set", set, source: `\\${sign}` };
    if (sign === "b" && cursor.engine !== "RE2") return { kind: "character", character: "\b" };
    return { kind: "character", character: this.#escapedCharacter(sign) };
  }

  /** The character that an escaped sign means, in a class or outside. */
  #escapedCharacter(sign: string): string {
    const { engine } = this.#cursor;
    const control = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", a: "\u0007" }[sign];
    if (control !== undefined) return control;
    if (sign === "e" && engine === ".NET") return "\u001b";
    if (sign === "x") return this.#coded(/^[0-9a-fA-F]{2}/);
    if (sign === "u" && engine !== "RE2") return this.#coded(/^[0-9a-fA-F]{4}/);
    // Properties, quotations, octal codes, names of characters: each engine has its own.
    if (/[a-zA-Z0-9]/.test(sign)) throw new Unparsed("unknown");
    return sign;
  }

  #coded(form: RegExp): string {
    const [code] = this.#cursor.take(form, 4) ?? [];
    if (code === undefined) throw new Unparsed("unknown");
    return String.fromCharCode(Number.parseInt(code, 16));
  }
}

function codePoint(character: string): string {
  return /^[a-zA-Z0-9]$/.test(character)
    ? character
    : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
