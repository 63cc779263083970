// Namespace patterns of other tools: regular expressions of RE2, Python and .NET, and globs. This module does not
// match them. The caller matches them with a time limit, and passes the answers.
import type { PatternEngine } from "./pattern-tree.ts";
import { parsePattern } from "./pattern-syntax.ts";

/**
 * How the tool uses the pattern: `search` anywhere in the name, `prefix` from its beginning, `cover`
 * from its beginning to its end, where only the first match counts.
 */
export type PatternUse = {
  /** A glob is one of ours: "*" is any run of characters, "?" exactly one, and the whole name matches. */
  readonly engine: PatternEngine | "glob";
  readonly mode: "search" | "prefix" | "cover";
  readonly pattern: string;
};

/** A pattern for the engine that matches it: RE2 itself, or JavaScript's in place of Python's and .NET's. */
export type PatternExpression = {
  readonly kind: "expression";
  readonly engine: "RE2" | "JavaScript";
  readonly source: string;
  /** Flags of JavaScript's engine. */
  readonly flags: string;
};

export type PatternAnswer =
  | { readonly kind: "names"; readonly names: ReadonlySet<string> }
  /** The tool's own engine does not accept the pattern. */
  | { readonly kind: "refused" }
  | { readonly kind: "unknown"; readonly why: string };

/** By the patternKey. */
export type PatternAnswers = ReadonlyMap<string, PatternAnswer>;

export function patternKey({ engine, mode, pattern }: PatternUse): string {
  return `${engine} ${mode} ${pattern}`;
}

/** The expression, or the answer if nothing has to be matched. */
export function patternExpression(use: PatternUse): PatternExpression | PatternAnswer {
  const { engine, mode, pattern } = use;
  if (pattern.length > LONGEST_PATTERN) {
    const why = `the pattern ${shownPattern(pattern)} is longer than ${LONGEST_PATTERN} characters`;
    return { kind: "unknown", why };
  }
  if (engine === "RE2") return { kind: "expression", engine, source: pattern, flags: "" };
  const javascript = { kind: "expression", engine: "JavaScript" } as const;
  if (engine === "glob") return { ...javascript, source: globSource(pattern), flags: "s" };
  const parsed = parsePattern(engine, pattern);
  if (parsed.kind === "refused") return { kind: "refused" };
  if (parsed.kind === "unknown") {
    const why = `the pattern ${shownPattern(pattern)} uses syntax that only ${engine} has`;
    return { kind: "unknown", why };
  }
  const { source, flags } = parsed;
  return { ...javascript, source: mode === "prefix" ? `^(?:${source})` : source, flags };
}

function globSource(glob: string): string {
  const parts = glob.replaceAll(/\*+/g, "*").split(/([*?])/);
  const source = parts.map((part) => {
    if (part === "*") return ".*";
    return part === "?" ? "." : part.replaceAll(/[\\^$.|+()[\]{}]/g, String.raw`\$&`);
  });
  return `^${source.join("")}$`;
}

/** Names have at most 63 characters, and the time to read a pattern grows with the square of its length. */
const LONGEST_PATTERN = 2048;
const LONGEST_SHOWN = 80;

/** In quotes, and cut where it is long. */
export function shownPattern(text: string): string {
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
  return JSON.stringify(shown);
}
