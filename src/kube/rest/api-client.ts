// What a client of one API server promises: a request as JSON, its answer, a stream without a known end.
import type { Reachability } from "./reachability.ts";

/** One request, as JSON. */
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
  /** Of the answer; a longer one is `malformed`, reason ResponseTooLong. 480 MiB when absent. */
  readonly mostBytes?: number;
  /** For error messages: "create secret team-a/registry". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * Asked when its first byte is about to be sent, which may be long after it was asked for: the process
   * was stopped, or every connection was taken. No: nothing is sent, and it is `cancelled`.
   */
  readonly permitted?: () => boolean;
  /** For the whole request; with `open`, for the answer's head. 30,000 when absent. */
  readonly timeoutMs?: number;
};

/** An answer without a known end. */
export type ApiStream = {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read at most once; fails with an ApiError. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the body and its connection; harmless when called again. */
  close(): void;
};

/** Requests to one API server, over one pool of connections; every failure is an ApiError. */
export type ApiClient = {
  /** The server's URL without credentials, for people. */
  readonly server: string;
  /** Whether that server answers; clients of one server share it. */
  readonly reachability: Reachability;
  /**
   * Beginnings of the keys that are read of a map however many members it has.
   * @internal
   */
  readonly keeps?: readonly string[];
  /** The answer's JSON; `T` is what the server holds that resource to, and is not checked. */
  request<T>(request: ApiRequest): Promise<T>;
  /** For answers without a known end; runs on a connection of its own until closed. */
  open(request: ApiRequest): Promise<ApiStream>;
  /** Ends every request and connection. */
  close(): Promise<void>;
};
