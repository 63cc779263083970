// Lists a resource and keeps of each object only what is asked for.
import { listAll, type ListOptions } from "../../../packages/kube/cache/list.ts";
import type { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { orRefusal } from "./refusal.ts";

export async function listKept<T>(
  what: Pick<ListOptions, "client" | "scope" | "signal">,
  keep: (raw: unknown) => T | undefined,
): Promise<readonly T[] | ApiError> {
  let kept: T[] = [];
  const listed = listAll({
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
  return orRefusal(listed.then(() => kept));
}
