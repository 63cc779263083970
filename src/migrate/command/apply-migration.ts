// Makes the writes of a move in the only order that is always safe. First come the sources' new
// annotations, while the old ones stay, then the namespaces' annotations, then the copies. Each write
// requires the UID and the version that were judged. After an interruption it can run again, because it
// recognizes finished writes. An object that another writer changed meanwhile is left alone and reported.
import {
  copyRequest,
  listRequest,
  namespaceRequest,
  sourceRequest,
  type MoveRequest,
} from "../moves/move-requests.ts";
import type { Migration, MovedCopy } from "../moves/migration.ts";
import { rawSource, readMoved, type MovedContent } from "../moves/moved-content.ts";
import type { MovedSource } from "../moves/moved-source.ts";
import { objectTitle } from "../oldtools/old-objects.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { Digest } from "../../controller/model/secret-data.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  resourcePath,
  SECRETS,
} from "../../../packages/kube/rest/resource.ts";

export type RequestSender = {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  /** Why writes are not allowed. Undefined when they are. It is asked again from time to time. */
  readonly obstacle: () => Promise<string | undefined>;
  readonly onProgress: (done: number, total: number) => void;
};

export type MoveWriter = RequestSender & {
  readonly settings: PlannerSettings;
  readonly digest: Digest;
  /** Copies with other data that are adopted nevertheless, as namedPlace names them. */
  readonly adoptDrifted: ReadonlySet<string>;
};

export type MoveResult = {
  readonly written: {
    readonly sources: number;
    readonly namespaces: number;
    readonly copies: number;
  };
  /** What was not written, and why. */
  readonly failures: readonly string[];
};

const AT_ONCE = 16;
const ASK_EVERY = 200;

export async function applyMigration(
  migration: Migration,
  writer: MoveWriter,
): Promise<MoveResult> {
  const written = { sources: 0, namespaces: 0, copies: 0 };
  const contents = new Map<MovedSource, MovedContent>();
  const copies = migration.copies.filter((copy) => isToAdopt(copy, writer.adoptDrifted));
  const { sources, namespaces, list } = migration;
  const queue = new WriteQueue(writer, sources.length + namespaces.length + copies.length);
  const keep = (source: MovedSource, raw: unknown): void => {
    const terms = { kind: source.place.kind, entry: source.entry };
    if (raw !== undefined) contents.set(source, readMoved(raw, writer, terms));
  };

  await queue.each(sources, async (source) => {
    const request = sourceRequest(source);
    const stored = request && (await queue.send(request));
    if (stored !== undefined) written.sources++;
    // A source that was written by an earlier run.
    keep(source, source.write === "none" ? presentOf(source) : stored);
  });
  // All entries at once and before their copies. A copy without an entry in the list would be deleted.
  const entering = sources.filter(({ write }) => write === "enter");
  const entries = entering.flatMap(({ entry }) => entry ?? []);
  const entry = list && listRequest(list, entries);
  if (entry && (await queue.send(entry)) !== undefined) {
    written.sources += entering.length;
    for (const source of entering) keep(source, presentOf(source));
  }
  await queue.each(namespaces, async (namespace) => {
    const request = namespaceRequest(namespace);
    if (request && (await queue.send(request)) !== undefined) written.namespaces++;
  });
  await queue.each(copies, async (copy) => {
    const content = copy.moved && contents.get(copy.moved);
    const request = content && copyRequest(migration.tool, copy, content);
    if (!request) {
      queue.failed(`${objectTitle(copy.object)}: not adopted, its source was not written`);
    } else if ((await queue.send(request)) !== undefined) {
      written.copies++;
    }
  });
  return { written, failures: queue.failures };
}

/** Resolves with what was not written, and why. */
export async function sendAll(
  requests: readonly MoveRequest[],
  sender: RequestSender,
): Promise<readonly string[]> {
  const queue = new WriteQueue(sender, requests.length);
  await queue.each(requests, async (request) => void (await queue.send(request)));
  return queue.failures;
}

/** Whether the copy certainly belongs to the old tool, or the user named it. */
export function isToAdopt(
  { state, object, moved }: MovedCopy,
  adoptDrifted: ReadonlySet<string>,
): boolean {
  if (state === "adoptable") return true;
  const named = adoptDrifted.has(namedPlace(object)) && !object.deleting;
  return named && moved !== undefined && moved.write !== "refused" && MAY_BE_NAMED.has(state);
}

/** The states that only a user can settle. In the other states no source wants the place. */
const MAY_BE_NAMED: ReadonlySet<string> = new Set(["drifted", "merged", "doubtful", "unmanaged"]);

/** How --adopt-drifted names a copy, and --gain a source. */
export function namedPlace(object: Ref & { readonly kind: string }): string {
  return object.kind === "ConfigMap" ? `configmap/${refText(object)}` : refText(object);
}

function presentOf({ object, content, place }: MovedSource): unknown {
  return object && content && rawSource(place, object, content, {});
}

const RESOURCES = { Secret: SECRETS, Namespace: NAMESPACES, ConfigMap: CONFIG_MAPS } as const;

class WriteQueue {
  readonly #writer: RequestSender;
  readonly #total: number;
  readonly #failures: string[] = [];
  #done = 0;
  #sinceAsked = ASK_EVERY;
  #asked: Promise<string | undefined> = Promise.resolve(undefined);
  /** Why writing has stopped. */
  #stopped: string | undefined;

  constructor(writer: RequestSender, total: number) {
    this.#writer = writer;
    this.#total = total;
  }

  /** What was not written, and why. */
  get failures(): readonly string[] {
    return this.#stopped === undefined ? this.#failures : [this.#stopped, ...this.#failures];
  }

  failed(why: string): void {
    this.#failures.push(why);
  }

  async each<T>(items: readonly T[], write: (item: T) => Promise<void>): Promise<void> {
    const left = items.values();
    const worker = async (): Promise<void> => {
      for (const item of left) {
        if (this.#stopped !== undefined) return;
        await write(item);
        this.#writer.onProgress(++this.#done, this.#total);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /**
   * The object as the API server stored it. Undefined when nothing was written, which is reported with its
   * reason.
   */
  async send(request: MoveRequest): Promise<unknown> {
    if (await this.#isStopped()) return undefined;
    const { method, kind, namespace, name, what, body } = request;
    const isNew = method === "POST";
    const path = resourcePath(RESOURCES[kind], namespace, isNew ? undefined : name);
    const contentType = isNew ? "application/json" : "application/json-patch+json";
    const { client, signal } = this.#writer;
    try {
      return await client.request<unknown>({ method, path, contentType, body, what, signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#failures.push(failureText(what, error));
      if (error.kind === "cancelled") this.#stopped = "stopped: run it again to go on";
      return undefined;
    }
  }

  async #isStopped(): Promise<boolean> {
    const { signal, obstacle } = this.#writer;
    if (signal.aborted) this.#stopped ??= "stopped: run it again to go on";
    if (this.#stopped !== undefined) return true;
    if (++this.#sinceAsked > ASK_EVERY) {
      this.#sinceAsked = 0;
      this.#asked = obstacle();
    }
    // Concurrent callers wait for the same answer.
    this.#stopped ??= await this.#asked;
    return this.#stopped !== undefined;
  }
}

function failureText(what: string, error: ApiError): string {
  if (error.kind === "conflict" || error.kind === "notFound") {
    return `${what}: somebody changed it meanwhile; left alone, run it again to look at it anew`;
  }
  // The message contains the request, status and reason, and never the answer.
  return error.message;
}
