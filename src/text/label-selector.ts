// Label selectors over Namespaces, equality and set form, with the grammar and the checks of the API
// server (labels.Parse). Its numeric `>` and `<` are refused.
//   key   !key   key=a   key==a   key!=a   key in (a,b)   key notin (a,b)   joined by ","
// `!=` and `notin` also hold if the key is absent. Hand-written scanner, linear in the text.
import { isAt, NameIndex, STEPS_A_LOOK_UP } from "./name-index.ts";
import { isLabelKey, isLabelValue, LABEL_KEY_FORM, LABEL_VALUE_FORM } from "./names.ts";
import { invalid, ok, type Invalid, type Result } from "./result.ts";
import type { StringMap } from "./string-map.ts";

type Requirement =
  | { readonly kind: "exists"; readonly key: string }
  | { readonly kind: "absent"; readonly key: string }
  | { readonly kind: "in" | "notin"; readonly key: string; readonly values: Values };

/** The values in the selector's text, from `from` on. Only a long list has an `index`. */
type Values = {
  readonly from: number;
  readonly count: number;
  readonly index: NameIndex | undefined;
};

export class Selector {
  readonly text: string;
  readonly #requirements: readonly Requirement[];
  readonly #steps: number;

  constructor(text: string, requirements: readonly Requirement[]) {
    this.text = text;
    this.#requirements = requirements;
    this.#steps = requirements.reduce((sum, each) => sum + stepsOf(each), 0);
  }

  /** As GlobList.steps, for any labels. */
  get steps(): number {
    return this.#steps;
  }

  matches(labels: StringMap): boolean {
    for (const requirement of this.#requirements) {
      if (!holds(requirement, labels, this.text)) return false;
    }
    return true;
  }

  /** The `kubectl label` arguments, KEY=VALUE or KEY-, for labels that match. Empty if they already do. */
  changes(labels: StringMap): readonly string[] {
    return this.#requirements
      .filter((requirement) => !holds(requirement, labels, this.text))
      .map((requirement) => changeOf(requirement, this.text));
  }
}

function changeOf(requirement: Requirement, text: string): string {
  const { kind, key } = requirement;
  if (kind === "absent" || kind === "notin") return `${key}-`;
  if (kind === "exists") return `${key}=VALUE`;
  WORD.lastIndex = requirement.values.from;
  return `${key}=${WORD.exec(text)?.[0] ?? ""}`;
}

function stepsOf(requirement: Requirement): number {
  if (!("values" in requirement)) return STEPS_A_REQUIREMENT;
  const { count, index } = requirement.values;
  return STEPS_A_REQUIREMENT + (index ? STEPS_A_LOOK_UP : STEPS_A_VALUE * (count - 1));
}

function holds(requirement: Requirement, labels: StringMap, text: string): boolean {
  const { key } = requirement;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (requirement.kind === "exists") return value !== undefined;
  if (requirement.kind === "absent") return value === undefined;
  const among = value !== undefined && isAmong(requirement.values, value, text);
  return requirement.kind === "in" ? among : !among;
}

function isAmong({ from, count, index }: Values, value: string, text: string): boolean {
  if (index) return index.find(value) >= 0;
  let start = from;
  for (let left = count; left > 0; left--) {
    if (isAt(text, start, value)) return true;
    SPACE.lastIndex = text.indexOf(",", start) + 1;
    start = SPACE.lastIndex + (SPACE.exec(text)?.[0].length ?? 0);
  }
  return false;
}

const SELECTOR_FORM =
  'requirements such as "team=a", "tier!=test", "env in (dev, prod)", "env notin (test)", "team" or "!team", joined by ","';

// Each costs a look-up per namespace and sync, and a tenant may write 256 KiB of them.
const MOST_REQUIREMENTS = 100;
const FEWER = `at most ${MOST_REQUIREMENTS} requirements`;
const LONGEST_TEXT = 64 * 1024;

const STEPS_A_REQUIREMENT = 8;
/** Up to this many values are compared one after the other, with the blanks between them. */
const MOST_LOOKED_AT = 8;
const STEPS_A_VALUE = 5;

class SelectorFault extends Error {
  readonly fault: Invalid;
  constructor(part: string, expected: string) {
    super(expected);
    this.fault = invalid(part, expected).fault;
  }
}

export function parseSelector(text: string): Result<Selector> {
  if (text.length > LONGEST_TEXT) return invalid(text, "a selector of at most 64 KiB");
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
  return ok(new Selector(text, requirements));
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
    if (this.takes("!=")) return { kind: "notin", key, values: this.#one() };
    if (this.takes("==") || this.takes("=")) {
      return { kind: "in", key, values: this.#one() };
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

  #one(): Values {
    const from = this.#skip();
    this.#value();
    return { from, count: 1, index: undefined };
  }

  #set(): Values {
    if (!this.takes("(")) throw this.#fault(this.#at);
    const starts: number[] = [];
    do {
      starts.push(this.#skip());
      this.#value();
    } while (this.takes(","));
    if (!this.takes(")")) throw this.#fault(this.#at);
    const index = starts.length > MOST_LOOKED_AT ? new NameIndex(this.#text, starts) : undefined;
    return { from: starts[0] ?? 0, count: starts.length, index };
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
