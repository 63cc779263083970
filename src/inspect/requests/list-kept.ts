// Lists a resource and keeps of each object only what is asked for. A list that the API server refuses is an answer
// and no error: each command says what it does not know then.
import { listAll, type ListOptions } from "../../kube/cache/list.ts";
import { ApiError } from "../../kube/rest/api-error.ts";

/** Resolves with the error where the list is forbidden, or where nothing serves it. */
export async function listKept<T>(
  what: Pick<ListOptions, "client" | "scope" | "signal">,
  keep: (raw: unknown) => T | undefined,
): Promise<readonly T[] | ApiError> {
  let kept: T[] = [];
  try {
    await listAll({
      ...what,
      onPage: (items) => {
        for (const item of items) {
          const each = keep(item);
          if (each !== undefined) kept.push(each);
        }
      },
      onRestart: () => {
        kept = [];
      },
    });
    return kept;
  } catch (error) {
    if (error instanceof ApiError && (error.kind === "forbidden" || error.kind === "notFound"))
      return error;
    throw error;
  }
}
