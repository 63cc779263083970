// The printable text of an unexpected error.
// Promises: it contains no text of the error itself, except for our own errors. Other messages may quote their
// input, which may be a Secret's value. The class and the place in the code are enough to find the cause.
import { ApiError } from "./api-error.ts";
import type { FailureCause } from "./failure-cause.ts";

/** One line: "unexpected TypeError at sync.ts:155:20", or an ApiError's own message. */
export function safeErrorText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (!(error instanceof Error)) return `unexpected ${typeof error} thrown`;
  const at = /^ {4}at .*?([\w.-]+:\d+:\d+)\)?$/m.exec(error.stack ?? "")?.[1];
  return `unexpected ${error.name}${at === undefined ? "" : ` at ${at}`}`;
}

/** The cause, in identifiers only. */
export function causeOf(error: unknown): FailureCause {
  return error instanceof ApiError
    ? error.why
    : { cause: "unexpected", text: safeErrorText(error) };
}
