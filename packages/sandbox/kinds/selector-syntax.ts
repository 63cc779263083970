// The grammar of labelSelector parameters: `a=b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`,
// `a>1`, `a<1`, joined by commas, with the error texts of the real parser.
import type { JsonStrings } from "../storage/object.ts";
import { badRequest, quoted } from "../storage/status.ts";
import { labelValueErrors, qualifiedNameErrors } from "./metadata-validation.ts";

export type Matcher<T> = (value: T) => boolean;

const operators = ["=", "!=", "==", "in", "notin", ">", "<"] as const;
type Operator = (typeof operators)[number];

/** Compiles `text`. Undefined when it selects everything. Throws a 400 when it is not a selector. */
export function labelSelector(text: string): Matcher<JsonStrings> | undefined {
  const tokens = tokenize(text);
  if (tokens.length === 0) return undefined;
  const parser = new Parser(tokens);
  const requirements = parser.requirements();
  return (labels) => requirements.every((holds) => holds(labels));
}

// The parser reports separately the tokens that are values inside parentheses and operators outside.
function tokenize(text: string): string[] {
  return text.match(/[=!<>]+|[(),]|[^\s=!<>(),]+/g)?.flatMap(splitSymbols) ?? [];
}

// The longest known operator first, as the real lexer takes them: "!==" is "!=" and "=".
function splitSymbols(token: string): string[] {
  return /^[=!<>]/.test(token) ? (token.match(/!=|==|[=!<>]/g) ?? []) : [token];
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && !/^[=!<>(),]/.test(token);
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  requirements(): Matcher<JsonStrings>[] {
    const all: Matcher<JsonStrings>[] = [];
    for (;;) {
      const token = this.#peek();
      if (!isWord(token) && token !== "!")
        throw badRequest(
          all.length === 0
            ? `found '${token ?? ""}', expected: !, identifier, or 'end of string'`
            : `found '${token ?? ""}', expected: identifier after ','`,
        );
      all.push(this.#requirement());
      const next = this.#take();
      if (next === undefined) return all;
      if (next !== ",") throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    }
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(): string | undefined {
    return this.#tokens[this.#at++];
  }

  #requirement(): Matcher<JsonStrings> {
    const absent = this.#peek() === "!";
    if (absent) this.#take();
    const key = this.#take();
    if (!isWord(key)) throw unparsed(`found '${key ?? ""}', expected: identifier`);
    const wrong = qualifiedNameErrors(key);
    if (wrong.length > 0)
      throw unparsed(`<nil>: Invalid value: ${quoted(key)}: ${wrong.join("; ")}`);
    const next = this.#peek();
    if (absent) return (labels) => !Object.hasOwn(labels, key);
    if (next === undefined || next === ",") return (labels) => Object.hasOwn(labels, key);
    return matcher(key, this.#operator(), (operator) => this.#values(key, operator));
  }

  #operator(): Operator {
    const token = this.#take() ?? "";
    const operator = operators.find((known) => known === token);
    if (operator === undefined)
      throw unparsed(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
    return operator;
  }

  #values(key: string, operator: Operator): readonly string[] {
    const values = operator === "in" || operator === "notin" ? this.#set() : [this.#exact()];
    values.forEach((value, at) => {
      const wrong = labelValueErrors(value);
      if (wrong.length > 0)
        throw unparsed(
          `values[${at}][${key}]: Invalid value: ${quoted(value)}: ${wrong.join("; ")}`,
        );
    });
    return values;
  }

  #exact(): string {
    const next = this.#peek();
    if (next === undefined || next === ",") return "";
    this.#take();
    if (isWord(next)) return next;
    throw unparsed(`found '${String(next)}', expected: identifier`);
  }

  #set(): readonly string[] {
    const open = this.#take();
    if (open !== "(") throw unparsed(`found '${open ?? ""}' expected: '('`);
    const values = new Set<string>();
    for (let pending = true; ;) {
      const token = this.#take();
      if (isWord(token)) {
        values.add(token);
        pending = false;
        const after = this.#peek();
        if (after !== "," && after !== ")")
          throw unparsed(`found '${after ?? ""}', expected: ',' or ')'`);
      } else if (token === ",") {
        if (pending) values.add("");
        pending = true;
      } else if (token === ")") {
        if (pending) values.add("");
        return [...values];
      } else throw unparsed(`found '${token ?? ""}', expected: ',', or identifier`);
    }
  }
}

function unparsed(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function matcher(
  key: string,
  operator: Operator,
  read: (operator: Operator) => readonly string[],
): Matcher<JsonStrings> {
  const values = read(operator);
  const among = (labels: JsonStrings) => values.includes(labels[key] ?? "");
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return (labels) => Object.hasOwn(labels, key) && among(labels);
    case "!=":
    case "notin":
      return (labels) => !Object.hasOwn(labels, key) || !among(labels);
    case ">":
    case "<":
  }
  return comparison(key, operator, values[0] ?? "");
}

function comparison(key: string, operator: ">" | "<", value: string): Matcher<JsonStrings> {
  if (!integer.test(value))
    throw unparsed(
      `values[0]: Invalid value: ${quoted(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  const bound = Number(value);
  return (labels) => {
    const own = labels[key] ?? "";
    if (!integer.test(own)) return false;
    return operator === ">" ? Number(own) > bound : Number(own) < bound;
  };
}

const integer = /^-?\d+$/;
