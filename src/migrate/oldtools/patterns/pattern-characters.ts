// The characters of a pattern: literals, escapes and classes.
import {
  NAME_CHARACTERS,
  Unparsed,
  type PatternEngine,
  type PatternPiece,
} from "./pattern-tree.ts";

/** The part of NAME_CHARACTERS in each Perl class. */
const ESCAPED_SETS: Readonly<Partial<Record<string, string>>> = {
  d: "0123456789",
  D: NAME_CHARACTERS.replaceAll(/\d/g, ""),
  w: NAME_CHARACTERS.replaceAll("-", ""),
  W: "-",
  s: "",
  S: NAME_CHARACTERS,
};

/** What follows a "\". Undefined at the end of the pattern. */
const ESCAPED = String.raw`\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^])?`;

export function escapeForm(flags: string): RegExp {
  return new RegExp(ESCAPED, flags);
}

export function literalPiece(character: string, ignoreCase: boolean): PatternPiece {
  const own = ignoreCase ? character.toLowerCase() : character;
  const set = NAME_CHARACTERS.includes(own) ? own : "";
  return { node: { kind: "character", set }, source: codePoint(character) };
}

/** What an escaped sign means outside a class. */
export function escapedPiece(
  sign: string,
  engine: PatternEngine,
  ignoreCase: boolean,
): PatternPiece {
  const set = ESCAPED_SETS[sign];
  if (set !== undefined) return { node: { kind: "character", set }, source: `\\${sign}` };
  return literalPiece(escapedCharacter(sign, engine), ignoreCase);
}

/** `members`: what is between the brackets, behind a "^" that negates it. */
export function classPiece(
  members: string,
  isNegated: boolean,
  engine: PatternEngine,
  ignoreCase: boolean,
): PatternPiece {
  const sets: string[] = [];
  const ranges: (readonly [string, string])[] = [];
  const sources: string[] = [];
  const texts = Array.from(members.matchAll(new RegExp(`${ESCAPED}|[^]`, "gu")), ([text]) => text);
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? "";
    const [dash, end] = [texts[at + 1], texts[at + 2]];
    // RE2's "[:alpha:]". .NET takes the class behind "-" out of the class before it.
    if (engine === "RE2" && text === "[" && dash === ":") throw new Unparsed("unknown");
    if (engine === ".NET" && text === "-" && dash === "[") throw new Unparsed("unknown");
    const set = setOf(text);
    if (set !== undefined) {
      if (dash === "-" && end !== undefined) throw new Unparsed("unknown");
      sets.push(set);
      sources.push(text);
      continue;
    }
    const low = memberCharacter(text, engine);
    const isRange = dash === "-" && end !== undefined;
    if (isRange && setOf(end) !== undefined) throw new Unparsed("refused");
    const high = isRange ? memberCharacter(end, engine) : low;
    if (high < low) throw new Unparsed("refused");
    if (isRange) at += 2;
    ranges.push([low, high]);
    sources.push(high === low ? codePoint(high) : `${codePoint(low)}-${codePoint(high)}`);
  }
  const isIn = (character: string): boolean => {
    const spellings = ignoreCase ? [character, character.toUpperCase()] : [character];
    return (
      sets.some((set) => set.includes(character)) ||
      ranges.some(([low, high]) => spellings.some((one) => low <= one && one <= high))
    );
  };
  const set = Array.from(NAME_CHARACTERS)
    .filter((character) => isIn(character) !== isNegated)
    .join("");
  const source = `[${isNegated ? "^" : ""}${sources.join("")}]`;
  return { node: { kind: "character", set }, source };
}

function setOf(member: string): string | undefined {
  return member.startsWith("\\") ? ESCAPED_SETS[member.slice(1)] : undefined;
}

function memberCharacter(member: string, engine: PatternEngine): string {
  if (!member.startsWith("\\")) return member;
  if (member === "\\b" && engine !== "RE2") return "\b";
  return escapedCharacter(member.slice(1), engine);
}

/** The character that an escaped sign means, in a class or outside. */
function escapedCharacter(sign: string, engine: PatternEngine): string {
  const control = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", a: "\u0007" }[sign];
  if (control !== undefined) return control;
  if (sign === "e" && engine === ".NET") return "\u001b";
  const isCoded = engine === "RE2" ? /^x./ : /^[xu]./;
  if (isCoded.test(sign)) return String.fromCharCode(Number.parseInt(sign.slice(1), 16));
  // Properties, quotations, octal codes, names of characters: each engine has its own.
  if (/^[a-zA-Z0-9]/.test(sign)) throw new Unparsed("unknown");
  return sign;
}

function codePoint(character: string): string {
  return /^[a-zA-Z0-9]$/.test(character)
    ? character
    : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
