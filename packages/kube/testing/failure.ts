// How a request failed.
import assert from "node:assert/strict";
import { ApiError } from "../rest/api-error.ts";

/** The ApiError with which `work` rejects; fails where it does not, or with something else. */
export async function failure(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, `expected an ApiError, got ${String(error)}`);
  return error;
}
