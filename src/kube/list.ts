// A list in pages. Only a real list counts as one: anything else that a server, proxy or login page
// answers with status 200 is a failure, because an empty list means that everything is gone.
import { ApiError } from "./api-error.ts";
import type { ApiClient } from "./client.ts";
import { isKubeObject, isRecord, resourcePath } from "./resource.ts";
import type { KubeObject } from "./resource.ts";
import { describe, selectors } from "./scope.ts";
import type { Scope } from "./scope.ts";

export type ListOptions = {
  readonly client: ApiClient;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  /** Called for each page in order, so that no more than one is held whole. */
  readonly onPage: (items: readonly KubeObject[]) => void;
  /** The rest of the list expired: what onPage was given is void, all comes again. */
  readonly onRestart: () => void;
};

// As client-go's reflector.
const PAGE_SIZE = 500;
const PAGE_TIMEOUT_MS = 60_000;
const WHOLE_LIST_TIMEOUT_MS = 240_000;

/** Resolves with the version of the list. The most recent state: resourceVersion stays unset. */
export async function listAll(options: ListOptions): Promise<string> {
  const first = await page(options, { limit: PAGE_SIZE });
  options.onPage(first.items);
  for (let token = first.next; token !== "";) {
    let next: Page;
    try {
      next = await page(options, { limit: PAGE_SIZE, continue: token });
    } catch (error) {
      if (error instanceof ApiError && error.kind === "gone") return whole(options);
      throw error;
    }
    options.onPage(next.items);
    token = next.next;
  }
  return first.version;
}

// Paging was slower than the server's memory of the list: ask for all of it at once.
async function whole(options: ListOptions): Promise<string> {
  options.onRestart();
  const all = await page(options, {});
  options.onPage(all.items);
  return all.version;
}

type Page = {
  readonly items: readonly KubeObject[];
  readonly version: string;
  /** The continue token; "" on the last page. */
  readonly next: string;
};

async function page(
  { client, scope, signal }: ListOptions,
  query: { readonly limit?: number; readonly continue?: string },
): Promise<Page> {
  const what = `list ${describe(scope)}`;
  const answer = await client.request<unknown>({
    method: "GET",
    path: resourcePath(scope.resource, scope.namespace),
    query: { ...selectors(scope), ...query },
    what,
    signal,
    timeoutMs: query.limit === undefined ? WHOLE_LIST_TIMEOUT_MS : PAGE_TIMEOUT_MS,
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
