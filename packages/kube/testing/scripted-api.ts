// An API server as a conversation: the test takes each request as it comes and says what happens to
// it. In process, without sockets or time, so every order of things can be played.
import { ApiError } from "../rest/api-error.ts";
import type { ApiErrorDetails } from "../rest/api-error.ts";
import { Reachability } from "../rest/reachability.ts";
import type { ApiClient, ApiRequest, ApiStream } from "../rest/api-client.ts";
import type { KubeObject } from "../rest/resource.ts";
import type { Clock } from "../time/clock.ts";
import { settle } from "./fake-clock.ts";

type Answer = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};
type Chunk = Uint8Array | "end" | Error;

/** One request that waits for its answer. */
export class Exchange {
  readonly request: ApiRequest;
  readonly kind: "list" | "watch" | "stream";
  readonly #settle: Answer;
  #chunks: Chunk[] = [];
  #wake: () => void = () => undefined;
  #accepted = false;
  #closed = false;

  constructor(request: ApiRequest, settleWith: Answer) {
    this.request = request;
    this.#settle = settleWith;
    const { watch, sendInitialEvents } = request.query ?? {};
    this.kind = watch === true ? (sendInitialEvents === true ? "stream" : "watch") : "list";
    request.signal?.addEventListener("abort", () =>
      this.fail({ kind: "cancelled", reason: "Cancelled" }),
    );
  }

  query(name: string): string | undefined {
    const value = this.request.query?.[name];
    return value === undefined ? undefined : String(value);
  }

  /** Nobody reads any more. */
  get closed(): boolean {
    return this.#closed || this.request.signal?.aborted === true;
  }

  /** The answer of a list. */
  reply(value: unknown): void {
    this.#settle.resolve(value);
  }

  /** A refusal before the answer's head, or a break of the connection after it. */
  fail(details: ApiErrorDetails): void {
    const error = new ApiError(this.request.what, details);
    if (this.#accepted) this.#push(error);
    else {
      this.#closed = true;
      this.#settle.reject(error);
    }
  }

  cut(): void {
    this.fail({ kind: "unavailable", reason: "UND_ERR_SOCKET" });
  }

  /** The head of a watch's answer. */
  accept(): void {
    if (this.#accepted) return;
    this.#accepted = true;
    const stream: ApiStream = {
      status: 200,
      contentType: "application/json",
      headers: {},
      body: this.#body(),
      close: () => (this.#closed = true),
    };
    this.#settle.resolve(stream);
  }

  bytes(bytes: Uint8Array | string): void {
    this.accept();
    this.#push(Buffer.from(bytes));
  }

  /** Whole lines, one for each event. */
  async send(...events: readonly unknown[]): Promise<void> {
    this.bytes(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    await settle();
  }

  async end(): Promise<void> {
    this.accept();
    this.#push("end");
    await settle();
  }

  #push(chunk: Chunk): void {
    this.#chunks.push(chunk);
    this.#wake();
  }

  async *#body(): AsyncIterable<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk === "end") return;
      if (chunk instanceof Error) throw chunk;
      if (chunk) yield chunk;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export class ScriptedApi implements ApiClient {
  readonly server = "http://scripted";
  readonly seen: Exchange[] = [];
  /** What else uses the server says here whether it answered. */
  readonly reachability: Reachability;
  #taken = 0;

  constructor(clock: Clock) {
    this.reachability = new Reachability(clock);
  }

  /** The next request not taken yet; of the kind named, or the test fails. */
  async next(kind: Exchange["kind"]): Promise<Exchange> {
    for (let turn = 0; turn < 20 && this.seen.length <= this.#taken; turn++) await settle();
    const exchange = this.seen[this.#taken];
    if (!exchange) throw new Error(`expected a ${kind} request, none came`);
    this.#taken++;
    if (exchange.kind !== kind)
      throw new Error(`expected a ${kind} request, a ${exchange.kind} came`);
    return exchange;
  }

  /** The kind of the next request that nobody has taken. */
  get peek(): Exchange["kind"] | undefined {
    return this.seen[this.#taken]?.kind;
  }

  /** Requests that nobody has taken. */
  get waiting(): number {
    return this.seen.length - this.#taken;
  }

  /** Requests whose answer is still being read or awaited. */
  get unclosed(): number {
    return this.seen.filter((exchange) => !exchange.closed && exchange.kind !== "list").length;
  }

  request<T>(request: ApiRequest): Promise<T> {
    return this.#exchange(request) as Promise<T>;
  }

  open(request: ApiRequest): Promise<ApiStream> {
    return this.#exchange(request) as Promise<ApiStream>;
  }

  async close(): Promise<void> {}

  #exchange(request: ApiRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.seen.push(new Exchange(request, { resolve, reject }));
    });
  }
}

/** A Secret as the API sends it; uid "u-NAME" unless named. */
export function raw(
  name: string,
  resourceVersion: number | string,
  rest: { readonly uid?: string; readonly namespace?: string; readonly label?: string } = {},
): KubeObject {
  const { uid = `u-${name}`, namespace = "a", label } = rest;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(resourceVersion),
      ...(label !== undefined && { labels: { label } }),
    },
  };
}

export const added = (object: KubeObject): object => ({ type: "ADDED", object });
export const modified = (object: KubeObject): object => ({ type: "MODIFIED", object });
export const deleted = (object: KubeObject): object => ({ type: "DELETED", object });

export function bookmark(resourceVersion: number, endMark?: string): object {
  const annotations =
    endMark === undefined ? {} : { annotations: { "k8s.io/initial-events-end": endMark } };
  const metadata = { resourceVersion: String(resourceVersion), ...annotations };
  return { type: "BOOKMARK", object: { kind: "Secret", apiVersion: "v1", metadata } };
}

/** The end of a streaming list. */
export const mark = (resourceVersion: number): object => bookmark(resourceVersion, "true");

export function failed(code: number, reason: string, details: object = {}): object {
  const object = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, details };
  return { type: "ERROR", object };
}

export function listOf(
  resourceVersion: number,
  items: readonly KubeObject[],
  next?: string,
): object {
  const metadata = { resourceVersion: String(resourceVersion), continue: next };
  return { kind: "SecretList", apiVersion: "v1", metadata, items };
}
