// What a failed list or watch allows next.
import { ApiError } from "../rest/api-error.ts";
import type { ApiErrorKind } from "../rest/api-error.ts";

// After these a list would be the most expensive question to ask a server that is busy, away, or does
// not let us in, and would be answered no better than a watch from the last version.
const RESUMABLE: ReadonlySet<ApiErrorKind> = new Set<ApiErrorKind>([
  "throttled",
  "timeout",
  "unauthorized",
  "forbidden",
  "notFound",
  "cancelled",
]);

/** Whether a watch from the last version is the right next thing, rather than a list. */
export function mayResume(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  // Status 0: refused, reset, cut.
  if (error.kind === "unavailable") return error.status === 0 || error.status === 503;
  return RESUMABLE.has(error.kind);
}

/** Whether the server refuses a streaming list as such, so that it need not be asked again. */
export function cannotStream(error: unknown): boolean {
  const kind = errorKindOf(error);
  return kind === "badRequest" || kind === "invalid";
}

export function errorKindOf(error: unknown): ApiErrorKind | undefined {
  return error instanceof ApiError ? error.kind : undefined;
}
