// A list in pages. Only a real list is accepted. Anything else with status 200 from a server, proxy or login
// page is a failure, because an empty list would mean that every object was deleted.
import { ApiError } from "../rest/api-error.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { isKubeObject, resourcePath } from "../rest/resource.ts";
import type { KubeObject } from "../rest/resource.ts";
import { describeScope, scopeSelectors } from "./list-scope.ts";
import type { ListScope } from "./list-scope.ts";
import { isRecord } from "../json.ts";

export type ListOptions = {
  readonly client: ApiClient;
  readonly scope: ListScope;
  readonly signal: AbortSignal;
  /** Called for each page in order, so that only one page is held in memory. */
  readonly onPage: (items: readonly KubeObject[]) => void;
  /** The rest of the list expired. The pages given to onPage are void, and the first page follows again. */
  readonly onRestart: () => void;
};

// As client-go's reflector ...
const PAGE_SIZE = 500;
// ... but smaller pages for large objects: 500 Secrets of the largest size are 700 MB.
const MOST_PAGE_BYTES = 16 * 1024 * 1024;
const SMALLER = 8;
const PAGE_TIMEOUT_MS = 60_000;
// When paging is slower than the server's memory of the list, client-go requests the whole list at once, which
// may need more memory than we have. A restart from the first page is quick while the server has the list
// cached. Otherwise the next list waits for a back-off.
const MOST_RESTARTS = 2;

/** Resolves with the version of the list. resourceVersion stays unset, so the list is the most recent state. */
export async function listAll(options: ListOptions): Promise<string> {
  let limit = PAGE_SIZE;
  let version: string | undefined;
  let restarts = 0;
  for (let token: string | undefined; token !== "";) {
    try {
      const next = await page(options, { limit, ...(token !== undefined && { continue: token }) });
      options.onPage(next.items);
      version ??= next.version;
      token = next.next;
      limit = Math.min(PAGE_SIZE, 2 * limit);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === "gone" && token !== undefined && restarts++ < MOST_RESTARTS) {
        options.onRestart();
        [token, version] = [undefined, undefined];
        continue;
      }
      if (error.reason !== "ResponseTooLong" || limit === 1) throw error;
      limit = Math.ceil(limit / SMALLER);
    }
  }
  return version ?? "";
}

/** The current version of the server, from a list of one object that is read to its end and dropped. */
export async function currentVersion(
  options: Pick<ListOptions, "client" | "scope" | "signal">,
): Promise<string> {
  return (await page(options, { limit: 1 })).version;
}

type Page = {
  readonly items: readonly KubeObject[];
  readonly version: string;
  /** The continue token; "" on the last page. */
  readonly next: string;
};

async function page(
  { client, scope, signal }: Pick<ListOptions, "client" | "scope" | "signal">,
  query: { readonly limit: number; readonly continue?: string },
): Promise<Page> {
  const what = `list ${describeScope(scope)}`;
  const answer = await client.request<unknown>({
    method: "GET",
    path: resourcePath(scope.resource, scope.namespace),
    query: { ...scopeSelectors(scope), ...query },
    what,
    signal,
    mostBytes: MOST_PAGE_BYTES,
    timeoutMs: PAGE_TIMEOUT_MS,
  });
  const list = readPage(answer, `${scope.resource.kind}List`);
  if (typeof list === "string")
    throw new ApiError(what, { kind: "malformed", status: 200, reason: "NotAList", note: list });
  return list;
}

// Returns the page, or a description of what is wrong with it.
function readPage(answer: unknown, kind: string): Page | string {
  if (!isRecord(answer) || answer["kind"] !== kind) return `its kind is not ${kind}`;
  const { items, metadata } = answer as { readonly items?: unknown; readonly metadata?: unknown };
  if (!Array.isArray(items)) return "it has no items";
  if (!isRecord(metadata)) return "it has no metadata";
  const version = metadata["resourceVersion"];
  if (typeof version !== "string" || version === "") return "it has no resourceVersion";
  if (!items.every(isKubeObject)) return "an item has no name, uid or resourceVersion";
  const next = metadata["continue"];
  return { items, version, next: typeof next === "string" ? next : "" };
}
