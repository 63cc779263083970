// Raw JSON requests to one API server, over one pool of connections.
// Promises: every failure is an ApiError. A success is JSON or an error of kind `malformed`. Each request ends
// by its time limit. A 401 is retried once with credentials read again. After twenty 429s in a row, no request
// starts before the time that they named is over. Bodies are always drained.
// Does not promise to retry anything else, or to know any kind of object.
import type { Dispatcher } from "undici";
import { header, isSuccess, errorOf, bodyOf, type HttpResponse } from "./response.ts";
import type { ApiClient, ApiRequest, ApiStream } from "./api-client.ts";
import { isWebhookDenial, type ApiError } from "./api-error.ts";
import type { Clock } from "../time/clock.ts";
import { ClockOffset } from "./clock-offset.ts";
import { CredentialCache, CredentialsError, type Credentials } from "../kubeconfig/credentials.ts";
import { INTERACTIVE_LIMIT_MS } from "../kubeconfig/exec-plugin.ts";
import { abandonable, Deadline } from "../time/deadline.ts";
import { roundTrip, openStream } from "./round-trip.ts";
import { LargeAnswers } from "./large-answers.ts";
import type { KubeConfig } from "../kubeconfig/kubeconfig.ts";
import { queryText } from "./resource.ts";
import { Reachability } from "./reachability.ts";
import { requestError } from "./request-error.ts";
import { RetryAfter } from "./retry-after.ts";
import { Transport, type ConnectionPool } from "../connections/transport.ts";

/** Options that differ between the clients of a server. */
export type ClientOptions = {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Maximum connections for requests. 32 when absent. */
  readonly connections?: number | undefined;
  /**
   * For the Lease: a renewal is tiny, and one that is delayed beyond the renew deadline ends the leadership.
   */
  readonly neverPauses?: boolean;
  /** Shared by all clients of the same server. The client creates its own when absent. */
  readonly reachability?: Reachability;
  /** Like ApiClient.keepKeyPrefixes: only these keys are parsed in maps with more than 2,048 members. */
  readonly keepKeyPrefixes?: readonly string[];
  /** A user reads what a credential plugin prints on stderr, even if it is not a terminal. */
  readonly hasReader?: boolean;
  /** Called once for every answer. `code` is the status, or "<error>" without an answer. */
  readonly onAnswer?: ((method: string, code: string) => void) | undefined;
  /** Called once a minute at most with how far this machine's clock is ahead of the server's, in ms. */
  readonly onClockOffset?: ((offsetMs: number) => void) | undefined;
};

const DEFAULT_TIMEOUT_MS = 30_000;

export function createClient(config: KubeConfig, options: ClientOptions): ApiClient {
  return new HttpClient(config, options);
}

type Send<A extends HttpResponse> = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Deadline,
) => Promise<A>;

class HttpClient implements ApiClient {
  readonly server: string;
  readonly keepKeyPrefixes: readonly string[];
  readonly reachability: Reachability;
  readonly #clockOffset: ClockOffset | undefined;
  readonly #origin: string;
  /** Prefix of every path: the base path of the API on its host. */
  readonly #prefix: string;
  readonly #options: ClientOptions;
  /** The proxy, for display. Empty without a proxy. */
  readonly #via: string;
  readonly #credentials: CredentialCache;
  readonly #transport: Transport;
  readonly #retryAfter: RetryAfter;
  readonly #closed = new AbortController();
  readonly #largeAnswers = new LargeAnswers();

  constructor(config: KubeConfig, options: ClientOptions) {
    const { server, proxyUrl } = config.cluster;
    const base = new URL(server);
    this.#origin = base.origin;
    this.#prefix = base.pathname.replace(/\/$/, "");
    this.server = this.#origin + this.#prefix;
    this.keepKeyPrefixes = options.keepKeyPrefixes ?? [];
    const { clock, onClockOffset } = options;
    this.#clockOffset = onClockOffset && new ClockOffset(clock, onClockOffset);
    this.#options = options;
    this.reachability = options.reachability ?? new Reachability(options.clock);
    this.#credentials = new CredentialCache(config, options.clock, options);
    this.#via =
      proxyUrl !== undefined && URL.canParse(proxyUrl)
        ? ` through the proxy ${new URL(proxyUrl).host}`
        : "";
    this.#transport = new Transport({ server, proxyUrl, connections: options.connections ?? 32 });
    this.#retryAfter = new RetryAfter(options.clock);
  }

  async request<T>(request: ApiRequest): Promise<T> {
    if (this.#credentials.asksUser) await this.#login(request);
    const deadline = this.#deadline(request);
    const slot = this.#largeAnswers.slot();
    try {
      const answer = await this.#send(
        "api",
        (...asked) => roundTrip(...asked, { ...request, slot }),
        request,
        deadline,
      );
      this.#check(request, answer);
      return (await bodyOf(request.what, answer, this.keepKeyPrefixes)) as T;
    } catch (error) {
      throw this.#classify(request, deadline, error);
    } finally {
      slot.release();
      deadline.release();
    }
  }

  async open(request: ApiRequest): Promise<ApiStream> {
    if (this.#credentials.asksUser) await this.#login(request);
    const deadline = this.#deadline(request);
    try {
      const answer = await this.#send("watch", openStream, request, deadline);
      this.#check(request, answer);
      const { status, headers, body } = answer;
      deadline.stopTimer();
      return {
        status,
        contentType: header(headers, "content-type") ?? "",
        headers,
        body: this.#stream(request, deadline, body),
        close: () => {
          deadline.abort();
          body.on("error", () => undefined).destroy();
        },
      };
    } catch (error) {
      const classified = this.#classify(request, deadline, error);
      // Ends a body that is not read. An error that is classified later would appear as cancelled.
      deadline.abort();
      throw classified;
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#transport.close();
  }

  async *#stream(
    request: ApiRequest,
    deadline: Deadline,
    body: AsyncIterable<Uint8Array>,
  ): AsyncIterable<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw this.#classify(request, deadline, error);
    } finally {
      deadline.release();
    }
  }

  // A 401 is retried once with credentials read again.
  async #send<A extends HttpResponse>(
    pool: ConnectionPool,
    send: Send<A>,
    request: ApiRequest,
    deadline: Deadline,
  ): Promise<A> {
    const credentials = await this.#credentialsWithin(deadline);
    const first = await this.#dispatch(pool, send, request, credentials, deadline);
    if (first.status !== 401 || isWebhookDenial(first.text)) return first;
    this.#credentials.refused(credentials);
    const anew = await this.#credentialsWithin(deadline);
    return this.#dispatch(pool, send, request, anew, deadline);
  }

  // The time that a user takes to log in does not count for the request.
  async #login(request: ApiRequest): Promise<void> {
    if (this.#credentials.fresh) return;
    const closed = this.#closed.signal;
    const login = new Deadline(this.#options.clock, INTERACTIVE_LIMIT_MS, request.signal, closed);
    try {
      await this.#credentialsWithin(login);
    } catch (error) {
      throw this.#classify(request, login, error);
    } finally {
      login.release();
    }
  }

  async #credentialsWithin(deadline: Deadline): Promise<Credentials> {
    const { fresh } = this.#credentials;
    if (fresh) return fresh;
    const reading = this.#credentials.get();
    try {
      return await abandonable(reading, deadline.signal);
    } catch (error) {
      const { awaited } = this.#credentials;
      if (!deadline.expired || !awaited) throw error;
      throw new CredentialsError(`${awaited.title} has not answered in time`);
    }
  }

  async #dispatch<A extends HttpResponse>(
    pool: ConnectionPool,
    send: Send<A>,
    request: ApiRequest,
    credentials: Credentials,
    deadline: Deadline,
  ): Promise<A> {
    const { method, body, contentType = "application/json" } = request;
    const { onAnswer, userAgent, clock } = this.#options;
    if (this.#retryAfter.leftMs > 0) await this.#retryAfter.wait(request.what, deadline);
    const dispatcher = this.#transport.dispatcher(pool, credentials.tls);
    const sent = {
      origin: this.#origin,
      path: this.#prefix + request.path + queryText(request.query),
      method,
      // By default undici closes a connection after a DELETE with a body.
      reset: false,
      headers: {
        ...credentials.headers,
        accept: request.accept ?? "application/json",
        "user-agent": userAgent,
        ...(body !== undefined && { "content-type": contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    const sentMs = clock.monotonic();
    try {
      const answer = await send(dispatcher, sent, deadline);
      onAnswer?.(method, String(answer.status));
      this.#clockOffset?.measure(header(answer.headers, "date"), sentMs);
      this.#noteAnswer(method, answer.status);
      return answer;
    } catch (error) {
      onAnswer?.(method, "<error>");
      if (!deadline.over) this.#noteAnswer(method, 0);
      if (deadline.over && !request.signal?.aborted) this.#transport.replace(pool, dispatcher);
      throw error;
    }
  }

  // 0: no answer. A write's failure does not show the server's state, because webhooks choose their answers.
  #noteAnswer(method: string, status: number): void {
    if (isSuccess(status)) this.reachability.answered();
    else if (method === "GET" && [0, 502, 503].includes(status)) this.reachability.unanswered();
  }

  #check(request: ApiRequest, answer: HttpResponse): void {
    const error = errorOf(request, answer, this.#options.clock.now());
    if (error?.kind !== "throttled") this.#retryAfter.taken();
    else if (this.#options.neverPauses !== true) this.#retryAfter.refused(error.retryAfterMs ?? 0);
    if (error) throw error;
  }

  #deadline(request: ApiRequest): Deadline {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request;
    return new Deadline(this.#options.clock, timeoutMs, signal, this.#closed.signal);
  }

  #classify(request: ApiRequest, deadline: Deadline, error: unknown): ApiError {
    return requestError(error, {
      what: request.what,
      timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      deadline,
      server: this.server,
      via: this.#via,
    });
  }
}
