// Raw JSON requests to one API server, over one pool of connections.
// Promises: every failure is an ApiError; a success is JSON or an error of kind `malformed`; each
// request ends by its time limit; a 401 is tried once more with credentials read anew; bodies are
// always drained. Does not promise: to retry anything else, or to know any kind of object.
import type { Dispatcher } from "undici";
import { header, isJson, networkCode, parseJson, readText } from "./answer.ts";
import { ApiError, parseRetryAfter, statusError } from "./api-error.ts";
import type { Clock } from "./clock.ts";
import { CredentialCache, CredentialsError } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { abandonable, Deadline } from "./deadline.ts";
import type { KubeConfig } from "./kubeconfig.ts";
import { queryText } from "./resource.ts";
import { Transport } from "./transport.ts";
import type { Lane } from "./transport.ts";

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the server's own path, with its leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; application/json when absent. */
  readonly contentType?: string;
  /** application/json when absent; only then is another answer `malformed`. */
  readonly accept?: string;
  /** For error messages: "create secret team-a/registry". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /** For the whole request; with `open`, for the answer's head. 30,000 when absent. */
  readonly timeoutMs?: number;
};

export type ApiStream = {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read at most once; fails with an ApiError. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the body and its connection; harmless when called again. */
  close(): void;
};

export type ApiClient = {
  /** The server's URL without credentials, for people. */
  readonly server: string;
  request<T>(request: ApiRequest): Promise<T>;
  /** For answers without a known end; runs on a connection of its own until closed. */
  open(request: ApiRequest): Promise<ApiStream>;
  close(): Promise<void>;
};

export type ClientOptions = {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Connections for requests at most; 32 when absent. */
  readonly connections?: number;
  /** Called once for every answer; `code` is the status, or "<error>" when there was none. */
  readonly onAnswer?: ((method: string, code: string) => void) | undefined;
};

const DEFAULT_TIMEOUT_MS = 30_000;
// A page of 500 Secrets of the largest size is below it; V8 holds no longer string than 512 MiB.
const LONGEST_ANSWER_BYTES = 480 * 1024 * 1024;

export function createClient(config: KubeConfig, options: ClientOptions): ApiClient {
  return new HttpClient(config, options);
}

class HttpClient implements ApiClient {
  readonly server: string;
  readonly #base: URL;
  readonly #options: ClientOptions;
  readonly #credentials: CredentialCache;
  readonly #transport: Transport;
  readonly #closed = new AbortController();

  constructor(config: KubeConfig, options: ClientOptions) {
    const { server, proxyUrl } = config.cluster;
    this.#base = new URL(server);
    this.server = `${this.#base.origin}${this.#base.pathname.replace(/\/$/, "")}`;
    this.#options = options;
    this.#credentials = new CredentialCache(config, options.clock);
    this.#transport = new Transport({ server, proxyUrl, connections: options.connections ?? 32 });
  }

  async request<T>(request: ApiRequest): Promise<T> {
    const deadline = this.#deadline(request);
    try {
      const answer = await this.#send("api", request, deadline.signal);
      const text = await readText(answer.body, LONGEST_ANSWER_BYTES);
      if (text === undefined)
        throw new ApiError(request.what, {
          kind: "malformed",
          status: answer.statusCode,
          reason: "ResponseTooLong",
          note: `more than ${LONGEST_ANSWER_BYTES} bytes`,
        });
      const value = parseJson(text);
      if (typeof value !== "object" || value === null)
        throw new ApiError(request.what, {
          kind: "malformed",
          status: answer.statusCode,
          reason: "NotJSON",
        });
      return value as T;
    } catch (error) {
      throw this.#classify(request, deadline, error);
    } finally {
      deadline.release();
    }
  }

  async open(request: ApiRequest): Promise<ApiStream> {
    const deadline = this.#deadline(request);
    try {
      const answer = await this.#send("watch", request, deadline.signal);
      deadline.stopTimer();
      return {
        status: answer.statusCode,
        contentType: header(answer.headers, "content-type") ?? "",
        headers: answer.headers,
        body: this.#stream(request, deadline, answer.body),
        close: () => {
          deadline.abort();
          answer.body.on("error", () => undefined).destroy();
        },
      };
    } catch (error) {
      deadline.release();
      throw this.#classify(request, deadline, error);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#transport.close();
  }

  async *#stream(
    request: ApiRequest,
    deadline: Deadline,
    body: Dispatcher.ResponseData["body"],
  ): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of body) yield chunk as Uint8Array;
    } catch (error) {
      throw this.#classify(request, deadline, error);
    } finally {
      deadline.release();
    }
  }

  // An answer that is a success; the refusals are read to their end and thrown.
  async #send(
    lane: Lane,
    request: ApiRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const credentials = await abandonable(this.#credentials.get(), signal);
    const first = await this.#dispatch(lane, request, credentials, signal);
    if (first.statusCode !== 401) return this.#check(request, first);
    await readText(first.body, 1 << 20);
    this.#credentials.refused(credentials);
    const anew = await abandonable(this.#credentials.get(), signal);
    return this.#check(request, await this.#dispatch(lane, request, anew, signal));
  }

  async #dispatch(
    lane: Lane,
    request: ApiRequest,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { method, body, contentType = "application/json" } = request;
    const { onAnswer, userAgent } = this.#options;
    const dispatcher = this.#transport.dispatcher(lane, credentials.tls);
    try {
      const answer = await dispatcher.request({
        origin: this.#base.origin,
        path: this.#base.pathname.replace(/\/$/, "") + request.path + queryText(request.query),
        method,
        signal,
        headers: {
          ...credentials.headers,
          accept: request.accept ?? "application/json",
          "user-agent": userAgent,
          ...(body !== undefined && { "content-type": contentType }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      onAnswer?.(method, String(answer.statusCode));
      return answer;
    } catch (error) {
      onAnswer?.(method, "<error>");
      if (signal.aborted && !request.signal?.aborted) this.#transport.distrust(lane, dispatcher);
      throw error;
    }
  }

  // The place to hold back the whole client after a 429, when that is wanted.
  async #check(
    request: ApiRequest,
    answer: Dispatcher.ResponseData,
  ): Promise<Dispatcher.ResponseData> {
    const { statusCode: status, headers, body } = answer;
    const contentType = header(headers, "content-type") ?? "";
    if (status >= 200 && status < 300) {
      if (request.accept !== undefined || isJson(contentType)) return answer;
      await readText(body, 1 << 20);
      throw new ApiError(request.what, { kind: "malformed", status, reason: "NotJSON" });
    }
    const text = await readText(body, 1 << 20);
    const retryAfter = parseRetryAfter(header(headers, "retry-after"), this.#options.clock.now());
    throw statusError(request.what, status, parseJson(text ?? ""), retryAfter);
  }

  #deadline(request: ApiRequest): Deadline {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request;
    return new Deadline(this.#options.clock, timeoutMs, signal, this.#closed.signal);
  }

  #classify(request: ApiRequest, deadline: Deadline, error: unknown): ApiError {
    const { what, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    if (error instanceof ApiError) return error;
    if (deadline.expired)
      return new ApiError(what, {
        kind: "timeout",
        reason: "NoAnswer",
        note: `${this.server} did not answer within ${timeoutMs} ms`,
      });
    if (deadline.signal.aborted)
      return new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
    if (error instanceof CredentialsError)
      return new ApiError(what, {
        kind: "unauthorized",
        reason: "NoCredentials",
        note: error.message,
      });
    const note = `cannot reach ${this.server}`;
    return new ApiError(what, { kind: "unavailable", reason: networkCode(error), note });
  }
}
