// A regular expression as a tree over the characters of namespace names.

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

/** A part of a pattern, also in JavaScript's syntax. */
export type PatternPiece = { readonly node: PatternNode; readonly source: string };

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
