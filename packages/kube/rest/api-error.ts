// Every failure of a request, as one class with a kind and a cause. The message contains only the request, the
// status, the reason and the cause. It never contains the answer's text, a header or the Status message,
// because those can quote a field, and the field can be a Secret's.
import {
  answeredCause,
  statusCauses,
  causeText,
  FAILURE_CAUSES,
  knownReason,
  type Cause,
  type FailureCause,
} from "./failure-cause.ts";
import { knownMessage, type KnownMessage } from "./known-message.ts";
import { isRecord, parseJson } from "../json.ts";

/** Every kind of failure of a request. The reaction depends on it. */
export type ApiErrorKind =
  | "notFound"
  | "alreadyExists"
  | "conflict"
  | "forbidden"
  | "unauthorized"
  | "invalid"
  | "badRequest"
  /** 410: the requested version, or the rest of a list, is not kept any more. */
  | "gone"
  | "throttled"
  /** 408, 504, or our own deadline. */
  | "timeout"
  /** The namespace is being terminated and accepts no new objects. */
  | "terminating"
  /** The server has not reached the requested resourceVersion. */
  | "tooLarge"
  /** 5xx, or no answer at all (status 0). */
  | "unavailable"
  /** A success status with invalid content: a login page, half an answer. */
  | "malformed"
  /** The caller's own signal, or the client was closed. */
  | "cancelled";

/** The content of an {@link ApiError}. */
export type ApiErrorDetails = {
  readonly kind: ApiErrorKind;
  readonly status?: number;
  /** The reason of the API's Status ("AlreadyExists"), a network code ("ECONNREFUSED"), or our own. */
  readonly reason: string;
  /** How long the server asks to wait, in ms. At most five minutes. */
  readonly retryAfterMs?: number | undefined;
  /**
   * The cause that the API server gave.
   * @internal
   */
  readonly why?: FailureCause | undefined;
  /** @internal */
  readonly knownMessage?: KnownMessage | undefined;
  /** Appended to the message. The caller guarantees that it contains no answer text. */
  readonly note?: string;
};

/** A failure of a request. Its message never quotes the answer, which may contain a value of a Secret. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The kind of failure. */
  readonly kind: ApiErrorKind;
  /** HTTP status. 0 when there was no answer. */
  readonly status: number;
  /** The reason of the API's Status ("AlreadyExists"), a network code ("ECONNREFUSED"), or our own. */
  readonly reason: string;
  /** How long the server asks to wait, in ms. */
  readonly retryAfterMs: number | undefined;
  /** @internal */
  readonly why: FailureCause;
  /**
   * What the API server itself, not a webhook or proxy, reported about the object. Identifiers only.
   * @internal
   */
  readonly knownMessage: KnownMessage | undefined;

  /** `what` describes the request: "create secret team-a/registry". */
  constructor(what: string, details: ApiErrorDetails) {
    const { status = 0, why } = details;
    super(
      `${what}: ${status > 0 ? `${status} ` : ""}${details.reason}` +
        (why === undefined ? "" : ` (${causeText(why)})`) +
        (details.note === undefined ? "" : `, ${details.note}`),
    );
    this.kind = details.kind;
    this.status = status;
    this.reason = details.reason;
    this.retryAfterMs = capped(details.retryAfterMs);
    this.why = why ?? causeOfKind(details.kind, status, details.reason);
    this.knownMessage = details.knownMessage;
  }
}

/**
 * Returns the error for an answer that is not a success, or for a Status inside a watch. `body` is the parsed
 * Status, or any other value when the answer was not one.
 */
export function statusError(
  what: string,
  code: number,
  body: unknown,
  retryAfterMs?: number,
): ApiError {
  const status = isRecord(body) ? body : {};
  const details = isRecord(status["details"]) ? status["details"] : {};
  const causes = statusCauses(status).map(({ reason }) => knownReason(reason));
  const reason = knownReason(status["reason"]);
  const seconds = details["retryAfterSeconds"];
  const asked = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
  return new ApiError(what, {
    kind: kindOf(code, reason, causes, status["message"]),
    status: code,
    reason: reason || WORDS[code] || "no known reason",
    retryAfterMs: retryAfterMs ?? asked,
    why: answeredCause(code, body),
    knownMessage: knownMessage(code, body),
  });
}

/** Parses a Retry-After header (seconds or a date). Undefined when it is missing or invalid. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Limit on every wait that another program asks for. */
const LONGEST_RETRY_AFTER_MS = 300_000;

function capped(ms: number | undefined): number | undefined {
  if (ms === undefined || Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

const WORDS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  502: "BadGateway",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function kindOf(
  code: number,
  reason: string,
  causes: readonly string[],
  message: unknown,
): ApiErrorKind {
  // A webhook's refusal is about one object, whatever code and reason it chooses.
  if (code >= 400 && saysDenied(message)) return "forbidden";
  const because = (name: string): boolean => causes.includes(name);
  if (code === 410 || reason === "Expired" || reason === "Gone") return "gone";
  if (code === 401) return "unauthorized";
  if (code === 403) return because("NamespaceTerminating") ? "terminating" : "forbidden";
  if (code === 404) return "notFound";
  if (code === 409) return reason === "AlreadyExists" ? "alreadyExists" : "conflict";
  if (code === 422) return "invalid";
  if (code === 429) return "throttled";
  if (code === 504 && (because("ResourceVersionTooLarge") || saysTooLarge(message)))
    return "tooLarge";
  if (code === 408 || code === 504) return "timeout";
  if (code >= 500 || code === 0) return "unavailable";
  return code >= 400 ? "badRequest" : "malformed";
}

// The API server's prefix for the refusal of a validating or mutating webhook.
function saysDenied(message: unknown): boolean {
  return typeof message === "string" && message.startsWith('admission webhook "');
}

/** The refusal comes from a webhook, so it shows nothing about the server or the client. */
export function isWebhookDenial(text = ""): boolean {
  const body = parseJson(text);
  return isRecord(body) && saysDenied(body["message"]);
}

// Older servers, without the cause, used one of two sentences.
function saysTooLarge(message: unknown): boolean {
  return (
    typeof message === "string" &&
    /too large resource version|resourceVersion.*too large/i.test(message)
  );
}

const CAUSE_OF_KIND: Partial<Record<ApiErrorKind, Cause>> = {
  unauthorized: "credentials",
  throttled: "throttled",
  terminating: "terminating",
  timeout: "deadline",
  malformed: "malformed",
};

// Used when the answer is missing or contains no known cause.
function causeOfKind(kind: ApiErrorKind, status: number, reason: string): FailureCause {
  const answered = kind === "unavailable" && status > 0;
  const silent = kind === "unavailable" ? "connection" : "withheld";
  const cause = CAUSE_OF_KIND[kind] ?? (answered ? "server" : silent);
  if (cause === "withheld")
    return { cause, text: `reason withheld${status > 0 ? ` (${status} ${reason})` : ""}` };
  return { cause, text: `${FAILURE_CAUSES[cause]}${answered ? ` (${status})` : ""}` };
}

/** Converts the error of a request that was cut off for waiting work into a timeout. */
export function asTimeout(what: string, error: unknown, cancelled: AbortSignal): unknown {
  const isCancelled = error instanceof ApiError && error.kind === "cancelled";
  if (!isCancelled || cancelled.aborted) return error;
  const note = "cut off, because others waited";
  return new ApiError(what, { kind: "timeout", reason: "NoAnswer", note });
}
