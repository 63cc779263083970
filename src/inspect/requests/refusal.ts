// A request that the API server may refuse. A refusal is an answer and no error: each command says what it does not
// know then.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";

/** Resolves with the error where the request is forbidden, or where nothing is there. */
export async function orRefusal<T>(answer: Promise<T>): Promise<T | ApiError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && (error.kind === "forbidden" || error.kind === "notFound"))
      return error;
    throw error;
  }
}
