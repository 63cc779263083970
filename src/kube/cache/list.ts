// A list in pages. Only a real list counts as one: anything else that a server, proxy or login page
// answers with status 200 is a failure, because an empty list means that everything no longer exists.
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
  /** Called for each page in order, so that no more than one is held whole. */
  readonly onPage: (items: readonly KubeObject[]) => void;
  /** The rest of the list expired: what onPage was given is void, the first page comes again. */
  readonly onRestart: () => void;
};

// As client-go's reflector ...
const PAGE_SIZE = 500;
// ... but of large objects fewer: 500 Secrets of the largest size are 700 MB.
const MOST_PAGE_BYTES = 16 * 1024 * 1024;
const SMALLER = 8;
const PAGE_TIMEOUT_MS = 60_000;
// Where paging was slower than the server's memory of the list, client-go asks for all of it at once,
// which may be more than we have room for. From the first page on it is quick while the server has it at
// hand; if not, the next list waits out a back-off.
const MOST_RESTARTS = 2;

/** Resolves with the version of the list. The most recent state: resourceVersion stays unset. */
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

/** The version that the server is at: of a list of one object, which is read to its end and dropped. */
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

// The page, or what is wrong with it.
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
