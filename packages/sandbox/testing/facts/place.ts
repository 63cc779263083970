// A fact is one thing that a Kubernetes API server answers, checked against whatever server it is
// given: the sandbox and the real one answer the same. Each fact has a namespace of its own, so facts
// may run side by side; no fact counts on anything outside its namespace standing still.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import type { Answer, Http } from "../http.ts";

export type Place = {
  readonly http: Http;
  readonly namespace: string;
  /** Path of the namespace's Secrets. */
  readonly secrets: string;
  /** How long this server leaves a quiet watch before its first bookmark. */
  readonly quietBookmarkMs: number;
  /** Makes the server forget every version but the present; absent where others share the server. */
  readonly forgetHistory?: () => Promise<void>;
};

export type Fact = {
  readonly name: string;
  /** Facts that need `forgetHistory` disturb the server for all others and run alone. */
  readonly alone: boolean;
  readonly check: (place: Place) => Promise<void>;
};

/** Every fact of the files that were loaded. */
export const API_FACTS: Fact[] = [];

export function test(name: string, check: Fact["check"]): void {
  API_FACTS.push({ name, alone: false, check });
}

/** For what disturbs the server for all others. */
export function alone(name: string, check: Fact["check"]): void {
  API_FACTS.push({ name, alone: true, check });
}

const CODES = {
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  UnsupportedMediaType: 415,
  Invalid: 422,
  Timeout: 504,
} as const;

/** The answer is a Status that says just this; `details` may leave out the causes' messages. */
export function assertFailure(
  answer: Answer,
  reason: keyof typeof CODES,
  expected: string | RegExp,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const { body } = answer;
  const message = String(field(body, "message"));
  if (typeof expected === "string") assert.equal(message, expected);
  else assert.match(message, expected);
  assert.equal(answer.status, CODES[reason]);
  assert.equal(field(body, "kind"), "Status");
  assert.equal(field(body, "status"), "Failure");
  assert.equal(field(body, "code"), CODES[reason]);
  assert.equal(field(body, "reason"), reason);
  for (const [key, value] of Object.entries(details))
    assert.deepEqual(field(body, "details", key), value, `details.${key}`);
}

/** The causes as `reason field` pairs, in the order given. */
export function causes(answer: Answer): readonly string[] {
  const list = field(answer.body, "details", "causes");
  if (!Array.isArray(list)) return [];
  return list.map((cause) => `${String(field(cause, "reason"))} ${String(field(cause, "field"))}`);
}

/** A Secret that is there afterwards: its body as answered. */
export async function given(
  place: Place,
  name: string,
  rest: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const body = secret(name, rest, metadata);
  const answer = await place.http.send("POST", place.secrets, { body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/**
 * The list at `least` or later, as the server's watch cache has it by then. Lists at a version and all
 * watches are served from that cache, which may be a moment behind the answer to a write: who waits
 * for this list has waited for the cache.
 */
export async function listNotOlder(
  { http, secrets }: Pick<Place, "http" | "secrets">,
  least: string,
): Promise<unknown> {
  const query = `resourceVersion=${least}&resourceVersionMatch=NotOlderThan`;
  return ok(await http.send("GET", `${secrets}?${query}`), 200);
}

export function secret(
  name: string,
  rest: Readonly<Record<string, unknown>> = { data: { k: "dg==" } },
  metadata: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, ...metadata }, ...rest };
}

export const version = (body: unknown): string =>
  String(field(body, "metadata", "resourceVersion"));
export const uid = (body: unknown): string => String(field(body, "metadata", "uid"));

/** The answer when all went well: its body. */
export function ok(answer: Answer, status: number): unknown {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body;
}
