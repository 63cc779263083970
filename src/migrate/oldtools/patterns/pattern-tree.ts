// A regular expression as a tree over the characters of namespace names.

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
