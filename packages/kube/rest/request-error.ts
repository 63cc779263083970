// Why a request has no usable answer, as an ApiError.
import { tlsFault } from "../connections/tls-faults.ts";
import { CredentialsError } from "../kubeconfig/credentials.ts";
import type { Deadline } from "../time/deadline.ts";
import { ApiError } from "./api-error.ts";
import { networkCode } from "./response.ts";
import { NotSentError } from "./round-trip.ts";

type FailedRequest = {
  readonly what: string;
  readonly timeoutMs: number;
  readonly deadline: Deadline;
  readonly server: string;
  /** The proxy, for display. Empty without a proxy. */
  readonly via: string;
};

export function requestError(
  error: unknown,
  { what, timeoutMs, deadline, server, via }: FailedRequest,
): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof CredentialsError)
    return new ApiError(what, {
      kind: "unauthorized",
      reason: "NoCredentials",
      note: error.message,
    });
  if (deadline.expired)
    return new ApiError(what, {
      kind: "timeout",
      reason: "NoAnswer",
      note: `${server} did not answer within ${timeoutMs} ms`,
    });
  if (error instanceof NotSentError)
    return new ApiError(what, { kind: "cancelled", reason: "NotPermitted" });
  if (deadline.over) return new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
  const reason = networkCode(error);
  const fault = tlsFault(reason);
  const note = `${fault === undefined ? "cannot reach" : "no connection to"} ${server}${via}`;
  const said = fault === undefined ? note : `${note}: ${fault}`;
  return new ApiError(what, { kind: "unavailable", reason, note: said });
}
