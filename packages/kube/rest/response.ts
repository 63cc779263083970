// Reads an HTTP answer: its bytes, its JSON, its headers, and why it cannot be used.
import type { IncomingHttpHeaders } from "node:http";
import { parseJson } from "../json.ts";
import { nextTurn } from "../time/turns.ts";
import { narrow } from "../parsing/narrow.ts";
import { ApiError, parseRetryAfter, statusError } from "./api-error.ts";

export type HttpResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if longer than the limit. */
  readonly text: string | undefined;
};

// Above the size of a page of 500 Secrets of the largest size, and below V8's longest string of 512 MiB.
export const LONGEST_ANSWER_BYTES = 480 * 1024 * 1024;
/** Limit for an answer that is not a success. */
export const LONGEST_REFUSAL_BYTES = 1024 * 1024;

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Why `asked` cannot use `answer`. Undefined if it is a success of the requested type. */
export function errorOf(
  asked: { readonly what: string; readonly accept?: string },
  { status, headers, text }: HttpResponse,
  nowMs: number,
): ApiError | undefined {
  if (!isSuccess(status)) {
    const retryAfter = parseRetryAfter(header(headers, "retry-after"), nowMs);
    return statusError(asked.what, status, parseJson(text ?? ""), retryAfter);
  }
  if (asked.accept !== undefined || isJson(header(headers, "content-type") ?? "")) return undefined;
  return new ApiError(asked.what, { kind: "malformed", status, reason: "NotJSON" });
}

/** Returns the object in the answer to `what`. Fails with an ApiError if it contains none. */
export async function bodyOf(
  what: string,
  { status, text }: HttpResponse,
  keepKeyPrefixes: readonly string[],
): Promise<object> {
  if (text === undefined)
    throw new ApiError(what, {
      kind: "malformed",
      status,
      reason: "ResponseTooLong",
      note: "more bytes than are taken",
    });
  const narrowed = narrow(text, keepKeyPrefixes);
  await nextTurn();
  const value = parseJson(narrowed);
  if (typeof value === "object" && value !== null) return value;
  throw new ApiError(what, { kind: "malformed", status, reason: "NotJSON" });
}

/** The whole body, or undefined (and a closed connection) when it is longer than `limit` bytes. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The error code of node or undici for a failed connection, without any transferred data. */
export function networkCode(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    if (cause instanceof AggregateError && cause.errors.length > 0)
      return networkCode(cause.errors[0]);
  }
  return "ConnectionFailed";
}
