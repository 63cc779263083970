// What lies between a process and its API server, on any client: answers refused, slow or lost after the
// server acted, watches cut or deaf, a server that is away. A process that is killed sends nothing more
// and hears nothing more; what the server did meanwhile stays done.
import { ApiError, statusError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest, ApiStream } from "../../../packages/kube/rest/api-client.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { Deadline } from "../../../packages/kube/time/deadline.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";

/** What becomes of one request. */
export type RequestFault =
  /** Answered so without having reached the server. */
  | { readonly kind: "refuse"; readonly status: number; readonly retryAfterMs?: number }
  | { readonly kind: "slow"; readonly ms: number }
  /** The server acts, its answer never comes. */
  | { readonly kind: "lost" }
  /** Never answered, and never done. */
  | { readonly kind: "hang" }
  | { readonly kind: "away" }
  /** The process ends with this request, before the server acts or as soon as it has. */
  | { readonly kind: "crash"; readonly acted: boolean; readonly crash: () => void };

export type FaultyOptions = {
  readonly inner: ApiClient;
  readonly clock: Clock;
  /** Asked of each request as it is sent. */
  readonly fault: (request: ApiRequest) => RequestFault | undefined;
  /** The server did what a write asked for; `answer` is its own. */
  readonly onDone?: (request: ApiRequest, answer: unknown) => void;
  readonly onSent?: (request: ApiRequest) => void;
};

const DEFAULT_TIMEOUT_MS = 30_000;
const EXPIRED = { kind: "Status", status: "Failure", code: 410, reason: "Expired" };

export class FaultyClient implements ApiClient {
  readonly server: string;
  readonly reachability: Reachability;
  readonly #options: FaultyOptions;
  readonly #closed = new AbortController();
  readonly #watches = new Set<Tap>();
  readonly #unanswered = new Set<() => void>();
  /** Collections that are listed, or whose watch ended, until one is begun. */
  readonly #unheard = new Set<string>();

  constructor(options: FaultyOptions, reachability = new Reachability(options.clock)) {
    this.#options = options;
    this.server = options.inner.server;
    this.reachability = reachability;
  }

  async request<T>(request: ApiRequest): Promise<T> {
    const { inner, onDone } = this.#options;
    return this.#bounded(request, async (fault) => {
      const answer = await inner.request<T>(request);
      if (request.method !== "GET") onDone?.(request, answer);
      if (fault?.kind === "crash") fault.crash();
      if (fault?.kind === "crash") await never();
      if (fault?.kind === "lost") await this.#unansweredUntilReset(request);
      return answer;
    });
  }

  async open(request: ApiRequest): Promise<ApiStream> {
    return this.#bounded(request, async (fault) => {
      const collection = collectionOf(request);
      const tap = new Tap(collection, await this.#options.inner.open(request), {
        onClose: () => this.#watches.delete(tap),
        onEnd: () => this.#unheard.add(collection),
      });
      if (request.query?.["watch"] === true) this.#unheard.delete(collection);
      if (fault?.kind === "crash") fault.crash();
      this.#watches.add(tap);
      const cancel = (): void => tap.end(cancelled(request));
      for (const signal of [request.signal, this.#closed.signal])
        signal?.addEventListener("abort", cancel, { once: true });
      return tap.stream;
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  /** What was listed is watched, and every watch that there was is there again. */
  get hears(): boolean {
    return this.#unheard.size === 0;
  }

  /** The connections of all watches are cut. */
  cut(): void {
    for (const tap of this.#watches) {
      this.#unheard.add(tap.collection);
      tap.end(network({ what: "watch" }, "ECONNRESET"));
    }
  }

  /** So are those of all requests that hang or whose answer was lost. */
  reset(): void {
    for (const end of this.#unanswered) end();
    this.#unanswered.clear();
  }

  /** All watches end with 410. */
  expire(): void {
    for (const tap of this.#watches) {
      this.#unheard.add(tap.collection);
      tap.say({ type: "ERROR", object: EXPIRED });
    }
  }

  /** All watches stay open and say nothing more. */
  deafen(): void {
    for (const tap of this.#watches) tap.mute();
  }

  #unansweredUntilReset(request: ApiRequest): Promise<never> {
    return new Promise((_, reject) => {
      this.#unanswered.add(() => reject(network(request, "ECONNRESET")));
    });
  }

  async #bounded<T>(
    request: ApiRequest,
    act: (fault: RequestFault | undefined) => Promise<T>,
  ): Promise<T> {
    const { clock, fault, onSent } = this.#options;
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request;
    if (isOfCollection(request)) this.#unheard.add(collectionOf(request));
    const deadline = new Deadline(clock, timeoutMs, signal, this.#closed.signal);
    const over = new Promise<never>((_, reject) =>
      deadline.whenOver(() =>
        reject(
          deadline.expired
            ? new ApiError(request.what, { kind: "timeout", reason: "NoAnswer" })
            : cancelled(request),
        ),
      ),
    );
    try {
      if (deadline.over) await over;
      onSent?.(request);
      const met = fault(request);
      const answer = await Promise.race([over, this.#meet(request, met, act)]);
      this.reachability.answered();
      return answer;
    } catch (error) {
      const silent = error instanceof ApiError && [0, 502, 503].includes(error.status);
      const ours = error instanceof ApiError && error.kind === "cancelled";
      if (request.method === "GET" && silent && !ours) this.reachability.unanswered();
      throw error;
    } finally {
      deadline.release();
      over.catch(() => undefined);
    }
  }

  async #meet<T>(
    request: ApiRequest,
    fault: RequestFault | undefined,
    act: (fault: RequestFault | undefined) => Promise<T>,
  ): Promise<T> {
    switch (fault?.kind) {
      case "refuse":
        throw statusError(request.what, fault.status, refusalOf(fault.status), fault.retryAfterMs);
      case "away":
        throw network(request, "ECONNREFUSED");
      case "hang":
        return this.#unansweredUntilReset(request);
      case "crash":
        if (fault.acted) return act(fault);
        fault.crash();
        return never();
      case "slow":
        await new Promise<void>(
          (resolve) => void this.#options.clock.setTimeout(resolve, fault.ms),
        );
        if (this.#closed.signal.aborted) return never();
        return act(fault);
      case "lost":
      case undefined:
        return act(fault);
    }
  }
}

type TapHooks = {
  /** Whoever read it does so no longer. */
  readonly onClose: () => void;
  /** The server or the connection to it ended it. */
  readonly onEnd: () => void;
};

/** A stream that can be cut, made deaf, or be told something that the server did not say. */
class Tap {
  readonly collection: string;
  readonly #inner: ApiStream;
  readonly #on: TapHooks;
  readonly #said: (Uint8Array | ApiError)[] = [];
  #mute = false;
  #wake: () => void = () => undefined;

  constructor(collection: string, inner: ApiStream, on: TapHooks) {
    this.collection = collection;
    this.#inner = inner;
    this.#on = on;
  }

  get stream(): ApiStream {
    const close = (): void => {
      this.#on.onClose();
      this.#inner.close();
    };
    return { ...this.#inner, body: this.#body(), close };
  }

  end(error: ApiError): void {
    this.#said.push(error);
    this.#wake();
  }

  say(event: object): void {
    if (this.#mute) return;
    this.#said.push(Buffer.from(`${JSON.stringify(event)}\n`));
    this.#wake();
  }

  mute(): void {
    this.#mute = true;
  }

  async *#body(): AsyncIterable<Uint8Array> {
    const iterator = this.#inner.body[Symbol.asyncIterator]();
    // Whoever reads may be gone before it fails.
    const pull = (): ReturnType<typeof iterator.next> => {
      const coming = iterator.next();
      coming.catch(() => undefined);
      return coming;
    };
    let next = pull();
    for (;;) {
      const said = this.#said.shift();
      if (said instanceof ApiError) {
        this.#inner.close();
        throw said;
      }
      if (said) {
        yield said;
        continue;
      }
      const reported = new Promise<"told">((resolve) => (this.#wake = () => resolve("told")));
      let heard: Awaited<typeof next> | "told";
      try {
        heard = await Promise.race(this.#mute ? [reported] : [reported, next]);
      } catch (error) {
        this.#on.onEnd();
        throw error;
      }
      if (heard === "told" || this.#mute) continue;
      if (heard.done === true) return this.#on.onEnd();
      next = pull();
      yield heard.value;
    }
  }
}

const isOfCollection = ({ method, path }: ApiRequest): boolean =>
  method === "GET" && /\/(namespaces|secrets|configmaps)$/.test(path);

/** What a list and the watch after it have in common. */
function collectionOf({ path, query }: ApiRequest): string {
  return `${path} ${String(query?.["fieldSelector"] ?? "")}`;
}

const never = (): Promise<never> => new Promise(() => undefined);

function cancelled({ what }: Pick<ApiRequest, "what">): ApiError {
  return new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
}

function network({ what }: Pick<ApiRequest, "what">, reason: string): ApiError {
  return new ApiError(what, { kind: "unavailable", reason });
}

const REASONS: Readonly<Record<number, string>> = {
  403: "Forbidden",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

const refusalOf = (code: number): object => ({
  kind: "Status",
  status: "Failure",
  code,
  reason: REASONS[code] ?? "",
});
