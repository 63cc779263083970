// Label selectors over Namespaces, equality and set form, with the grammar and the checks of the API
// server (labels.Parse), but for its numeric `>` and `<`, which are refused.
//   key   !key   key=a   key==a   key!=a   key in (a,b)   key notin (a,b)   joined by ","
// `!=` and `notin` also hold where the key is absent. Hand-written scanner: one pass over the text.
import { isLabelKey, isLabelValue, LABEL_KEY_FORM, LABEL_VALUE_FORM } from "./names.ts";
import { faulty, parsed, type Fault, type Parsed } from "./parsed.ts";

type Labels = Readonly<Record<string, string>>;

type Requirement =
  | { readonly kind: "exists"; readonly key: string }
  | { readonly kind: "absent"; readonly key: string }
  | { readonly kind: "in" | "notin"; readonly key: string; readonly values: ReadonlySet<string> };

export class Selector {
  readonly text: string;
  readonly #requirements: readonly Requirement[];

  constructor(text: string, requirements: readonly Requirement[]) {
    this.text = text;
    this.#requirements = requirements;
  }

  matches(labels: Labels): boolean {
    for (const requirement of this.#requirements) {
      if (!holds(requirement, labels)) return false;
    }
    return true;
  }
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const { key } = requirement;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (requirement.kind === "exists") return value !== undefined;
  if (requirement.kind === "absent") return value === undefined;
  const among = value !== undefined && requirement.values.has(value);
  return requirement.kind === "in" ? among : !among;
}

const SELECTOR_FORM =
  'requirements such as "team=a", "tier!=test", "env in (dev, prod)", "env notin (test)", "team" or "!team", joined by ","';

// Each costs a look-up per namespace and pass, and a tenant may write 256 KiB of them.
const MOST_REQUIREMENTS = 100;
const FEWER = `at most ${MOST_REQUIREMENTS} requirements`;

class SelectorFault extends Error {
  readonly fault: Fault;
  constructor(part: string, expected: string) {
    super(expected);
    this.fault = faulty(part, expected).fault;
  }
}

export function parseSelector(text: string): Parsed<Selector> {
  const scanner = new Scanner(text);
  const requirements: Requirement[] = [];
  try {
    do {
      if (requirements.length === MOST_REQUIREMENTS) throw new SelectorFault(text, FEWER);
      requirements.push(scanner.requirement());
    } while (scanner.takes(","));
    scanner.end();
  } catch (error) {
    if (error instanceof SelectorFault) return { ok: false, fault: error.fault };
    throw error;
  }
  return parsed(new Selector(text, requirements));
}

const WORD = /[^\s,()=!<>]*/y;
const SPACE = /\s*/y;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  requirement(): Requirement {
    if (this.takes("!")) return { kind: "absent", key: this.#key() };
    const key = this.#key();
    if (this.takes("!=")) return { kind: "notin", key, values: new Set([this.#value()]) };
    if (this.takes("==") || this.takes("=")) {
      return { kind: "in", key, values: new Set([this.#value()]) };
    }
    const start = this.#skip();
    const word = this.#word();
    if (word === "in" || word === "notin") return { kind: word, key, values: this.#set() };
    if (word !== "") throw this.#fault(start);
    return { kind: "exists", key };
  }

  takes(sign: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  end(): void {
    if (this.#skip() < this.#text.length) throw this.#fault(this.#at);
  }

  #set(): ReadonlySet<string> {
    if (!this.takes("(")) throw this.#fault(this.#at);
    const values = new Set<string>();
    do values.add(this.#value());
    while (this.takes(","));
    if (!this.takes(")")) throw this.#fault(this.#at);
    return values;
  }

  #key(): string {
    const start = this.#skip();
    const key = this.#word();
    if (key === "") throw this.#fault(start);
    if (!isLabelKey(key)) throw new SelectorFault(key, LABEL_KEY_FORM);
    return key;
  }

  #value(): string {
    this.#skip();
    const value = this.#word();
    if (!isLabelValue(value)) throw new SelectorFault(value, LABEL_VALUE_FORM);
    return value;
  }

  #word(): string {
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0] ?? "";
    this.#at += word.length;
    return word;
  }

  #skip(): number {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
    return this.#at;
  }

  #fault(at: number): SelectorFault {
    const rest = this.#text.slice(at);
    return new SelectorFault(rest === "" ? this.#text : rest, SELECTOR_FORM);
  }
}
