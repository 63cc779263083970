// The interface of a client of one API server: JSON requests, their answers, and streams without a known end.
import type { Reachability } from "./reachability.ts";

/** One JSON request. */
export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the server's base path, with its leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Media type of the body. application/json when absent. */
  readonly contentType?: string;
  /** Accepted media type. application/json when absent, and only then is another answer `malformed`. */
  readonly accept?: string;
  /** Limit on the answer. A longer one is `malformed`, reason ResponseTooLong. 480 MiB when absent. */
  readonly mostBytes?: number;
  /** For error messages: "create secret team-a/registry". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called just before the first byte is sent. That may be long after the call, because the process was
   * stopped or every connection was in use. If it returns false, nothing is sent and the request is `cancelled`.
   */
  readonly mayStillSend?: () => boolean;
  /** Limit for the whole request, or with `open` for the answer's head. 30,000 when absent. */
  readonly timeoutMs?: number;
};

/** An answer without a known end. */
export type ApiStream = {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Can be read once. Fails with an ApiError. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the body and its connection. Repeated calls have no effect. */
  close(): void;
};

/** A client of one API server with one pool of connections. Every failure is an ApiError. */
export type ApiClient = {
  /** The server's URL without credentials, for display. */
  readonly server: string;
  /** Whether that server answers. Clients of one server share it. */
  readonly reachability: Reachability;
  /**
   * Prefixes of the keys that are read from a map of any size.
   * @internal
   */
  readonly keepKeyPrefixes?: readonly string[];
  /** Returns the answer's JSON. `T` is the type that the server guarantees. It is not checked. */
  request<T>(request: ApiRequest): Promise<T>;
  /** For answers without a known end. It uses its own connection until closed. */
  open(request: ApiRequest): Promise<ApiStream>;
  /** Ends every request and connection. */
  close(): Promise<void>;
};
