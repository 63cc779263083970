// A request as it is put to two API servers, one after the other, and what of the answers must be
// equal. What each server makes up for itself (UIDs, versions, times, tokens, generated names) is
// replaced by a word and its order of appearance, so that equal structure is equal text.
import type { Answer, SendOptions } from "../../../../packages/sandbox/testing/http.ts";

export type Request = SendOptions & {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
};

export const label = ({ method, path, body, contentType, accept }: Request): string => {
  const type = contentType?.replace(/^application\//, "") ?? "";
  const text =
    body === undefined ? "" : ` ${typeof body === "string" ? body : JSON.stringify(body)}`;
  return `${method} ${path}${accept === undefined ? "" : ` (${accept})`} ${type}${text}`.slice(
    0,
    240,
  );
};

/**
 * Words for what a server makes up: a UID or version is called by the number of the request that first
 * showed it. One for each server, told of each answer in turn.
 */
export class Normalizer {
  readonly #words = new Map<string, string>();
  #requests = 0;

  answer({ status, body, headers }: Answer): unknown {
    this.#requests += 1;
    const contentType = String(headers["content-type"]).split(";")[0];
    return { status, contentType, body: this.#value(body, "") };
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === "string" && value.startsWith('{"type":'))
      return this.#value(
        value
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
        key,
      );
    if (typeof value === "string") return this.#text(value, key);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item, key));
      return key === "causes" ? items.filter(isFirst) : items;
    }
    const isList = "items" in value || "rows" in value;
    const entries = Object.entries(value)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, of]) => [name, isList && name === "metadata" ? listed(of) : of] as const)
      .map(([name, of]) => [name, this.#value(of, name)] as const);
    return Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b)));
  }

  #text(text: string, key: string): string {
    if (key === "resourceVersion" && text !== "LIST") return this.#word("version", text);
    if (key === "continue") return "TOKEN";
    const words = key === "message" ? withoutRepetition(text) : text;
    return (
      words
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) => this.#word("uid", uid))
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
        .replace(/^\d+s$/, "AGE")
        .replace(/\b(gen-|Gen_)[a-z0-9]{5}\b/g, "$1NAME")
        .replace(/(ResourceVersion in record \()\d+/, "$1N")
        .replace(/(Too large resource version: \d+, current: )\d+/, "$1N")
        // The whole object, in an order of its own.
        .replace(/Invalid value: "\{.*\}": /s, "Invalid value: OBJECT: ")
        .replace(/(continue key is not valid: ).*/s, "$1...")
        // What Go's JSON decoder says of its own types, and where it was when it noticed.
        .replace(/(json parse error: ).*/s, "$1...")
        .replace(/(json: cannot unmarshal \w+ into Go ).*/s, "$1...")
    );
  }

  #word(kind: string, value: string): string {
    const known = this.#words.get(`${kind} ${value}`);
    if (known !== undefined) return known;
    const word = `${kind} of answer ${this.#requests}`;
    this.#words.set(`${kind} ${value}`, word);
    return word;
  }
}

// managedFields: the sandbox keeps the least that clients need. description: of a Table's columns.
const LEFT_OUT = new Set(["managedFields", "description"]);

// A list's own version goes on with everything that happens on the server.
const listed = (metadata: unknown): unknown => ({ ...Object(metadata), resourceVersion: "LIST" });

const isFirst = (item: unknown, at: number, all: readonly unknown[]): boolean =>
  all.findIndex((other) => JSON.stringify(other) === JSON.stringify(item)) === at;

// On updates the real server says some faults of metadata two or three times.
function withoutRepetition(message: string): string {
  const [, head = "", list] = /^(.* is invalid: )\[?(.*?)\]?$/s.exec(message) ?? [];
  if (list === undefined) return message;
  return (
    head +
    list
      .split(/, (?=[\w.[\]/]+: (?:Invalid|Required|Forbidden|Too|Unsupported|Duplicate))/)
      .filter(isFirst)
      .join(", ")
  );
}
