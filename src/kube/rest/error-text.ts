// What may be printed of an error that somebody did not expect. Promises: no text of the error itself,
// unless it is one of ours: the message of any other may quote what it choked on, and that may be a
// Secret's value. Its class and the place in the code are enough to find it.
import { ApiError } from "./api-error.ts";
import type { FailureCause } from "./failure-cause.ts";

/** One line: "unexpected TypeError at sync.ts:155:20", or an ApiError's own message. */
export function safeErrorText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (!(error instanceof Error)) return `unexpected ${typeof error} thrown`;
  const at = /^ {4}at .*?([\w.-]+:\d+:\d+)\)?$/m.exec(error.stack ?? "")?.[1];
  return `unexpected ${error.name}${at === undefined ? "" : ` at ${at}`}`;
}

/** Why it failed, in identifiers alone. */
export function causeOf(error: unknown): FailureCause {
  return error instanceof ApiError ? error.why : { word: "unexpected", text: safeErrorText(error) };
}
