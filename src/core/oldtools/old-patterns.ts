// Namespace patterns of other tools: regular expressions of RE2, Python and .NET. Nothing here matches
// one: whoever asks has them matched where a pattern that never ends does no harm, and brings the answers.
// What is translated is translated exactly or not at all.

export type PatternEngine = "RE2" | "Python" | ".NET";

/**
 * How the tool uses the pattern: `search` anywhere in the name, `prefix` from its beginning, `cover`
 * from its beginning to its end, where only the first match counts.
 */
export type PatternUse = {
  readonly engine: PatternEngine;
  readonly mode: "search" | "prefix" | "cover";
  readonly pattern: string;
};

/** A pattern as JavaScript's engine takes it; of `cover` its first match counts. */
export type PatternQuestion = {
  readonly key: string;
  readonly source: string;
  /** "u", and those that the pattern began with: in the text itself Node 22 does not read them. */
  readonly flags: string;
  readonly cover: boolean;
};

export type PatternAnswer =
  | { readonly kind: "names"; readonly names: ReadonlySet<string> }
  | { readonly kind: "unknown"; readonly why: string };

/** By the key of a question. */
export type PatternAnswers = ReadonlyMap<string, PatternAnswer>;

export function patternKey({ engine, mode, pattern }: PatternUse): string {
  return `${engine} ${mode} ${pattern}`;
}

/** The question, or the answer where none need be asked. */
export function patternQuestion(use: PatternUse): PatternQuestion | PatternAnswer {
  const { engine, mode, pattern } = use;
  // The tool's own engine refuses these; it says so in its log and goes on without the pattern.
  if (engine === "RE2" && RE2_REFUSES.test(pattern)) return NOTHING;
  if (UNLIKE.test(pattern)) {
    const why = `the pattern ${JSON.stringify(shortened(pattern))} holds what ${engine} alone knows`;
    return { kind: "unknown", why };
  }
  const text = pattern.replaceAll("(?P<", "(?<").replaceAll("\\-", "\\x2d");
  const [first = "", flags = ""] = /^\(\?([is]+)\)/.exec(text) ?? [];
  const body = text.slice(first.length);
  const source = mode === "prefix" ? `^(?:${body})` : body;
  const asked = [...new Set(`u${flags}`)].join("");
  return { key: patternKey(use), source, flags: asked, cover: mode === "cover" };
}

const NOTHING: PatternAnswer = { kind: "names", names: new Set() };
const RE2_REFUSES = /\(\?<?[=!]|\\[1-9]/;
// Ends of texts, quotations, properties, atoms, conditions, comments, names and sets that mean another
// thing in JavaScript, or nothing.
const UNLIKE =
  /\\[AZzQEpPKGhHRXNuUx]|\(\?[>#(]|\(\?P[^<]|\[\[:|[*+?}]\+|&&|\(\?[a-z]*[^is:)a-z=!<P]/;
const LONGEST_SHOWN = 80;

function shortened(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
}

/** Globs that name the same namespaces, whatever namespaces there are; undefined: no globs can. */
export function globsOfPattern({
  engine,
  mode,
  pattern,
}: PatternUse): readonly string[] | undefined {
  if (engine === "RE2" && RE2_REFUSES.test(pattern)) return [];
  const reader = new PatternReader(pattern);
  const ways = reader.all();
  if (!ways) return undefined;
  // Of several ways only the first that matches counts, however much of the name it covers.
  if (mode === "cover" && ways.length > 1) return undefined;
  const globs: string[] = [];
  for (const way of ways) {
    const glob = globOf(way, mode);
    if (glob === undefined) return undefined;
    if (glob !== "") globs.push(glob);
  }
  return [...new Set(globs)];
}

// "" where no namespace can have such a name.
function globOf(way: string, mode: PatternUse["mode"]): string | undefined {
  const [, begins = "", body = "", ends = ""] = /^(\^*)([^^$]*)(\$*)$/.exec(way) ?? [undefined];
  if (`${begins}${body}${ends}` !== way) return undefined;
  if (body.includes(NEVER)) return "";
  const before = begins !== "" || mode !== "search" ? "" : "*";
  const after = ends !== "" || mode === "cover" ? "" : "*";
  return `${before}${body}${after}`.replaceAll(/\*+/g, "*");
}

/** Stands for a character that no namespace's name has. */
const NEVER = "/";
const MOST_WAYS = 64;

// Literals, ".", ".*", ".+", "?", groups and "|": each way through the pattern as a glob, with "^" and
// "$" where they stand.
class PatternReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  all(): readonly string[] | undefined {
    const ways = this.#alternatives();
    return this.#at === this.#text.length ? ways : undefined;
  }

  #alternatives(): readonly string[] | undefined {
    const ways: string[] = [];
    do {
      const sequence = this.#sequence();
      if (!sequence) return undefined;
      ways.push(...sequence);
    } while (this.#takes("|"));
    return ways.length <= MOST_WAYS ? ways : undefined;
  }

  #sequence(): readonly string[] | undefined {
    let ways: readonly string[] = [""];
    while (this.#at < this.#text.length && !")|".includes(this.#peek())) {
      const parts = this.#part();
      if (!parts || parts.length * ways.length > MOST_WAYS) return undefined;
      ways = ways.flatMap((way) => parts.map((part) => way + part));
    }
    return ways;
  }

  #part(): readonly string[] | undefined {
    const parts = this.#atom();
    if (!parts) return undefined;
    const sign = this.#peek();
    if (sign === "*" || sign === "+" || sign === "?") {
      this.#at++;
      // A lazy or possessive one, or one after "^".
      if ("*+?".includes(this.#peek() || " ") || parts.some((part) => /[\^$]/.test(part))) {
        return undefined;
      }
      if (sign === "?") return ["", ...parts].toReversed();
      if (parts.length !== 1 || parts[0] !== "?") return undefined;
      return [sign === "*" ? "*" : "?*"];
    }
    return sign === "{" ? undefined : parts;
  }

  #atom(): readonly string[] | undefined {
    const char = this.#peek();
    this.#at++;
    if (char === "(") {
      if (this.#peek() === "?" && !this.#takes("?:")) return undefined;
      const ways = this.#alternatives();
      return ways && this.#takes(")") ? ways : undefined;
    }
    if (char === ".") return ["?"];
    if (char === "^" || char === "$") return [char];
    if (char === "\\") {
      const escaped = this.#peek();
      this.#at++;
      if (escaped === "-") return ["-"];
      return escaped === "." ? [NEVER] : undefined;
    }
    if (/[[\]{}*+?]/.test(char)) return undefined;
    return [/[-a-z0-9]/.test(char) ? char : NEVER];
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #takes(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }
}
