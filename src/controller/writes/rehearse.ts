// Before a copy that cannot be updated is deleted for its successor, the API server must accept that successor in
// a dry run.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { QuotaFigure } from "../../../packages/kube/rest/known-message.ts";
import type { Action } from "../model/actions.ts";
import { KINDS } from "../model/kinds.ts";
import type { ObjectRequest } from "./object-requests.ts";
import type { Outcome } from "./outcome.ts";
import { failed, type WriteControl, type WriteRequests } from "./write-requests.ts";

export type ReplaceAction = Action & { kind: "replace" };

/** The obstacle to a replace. Undefined if the API server would accept the successor. */
export async function rehearse(
  writes: WriteRequests,
  action: ReplaceAction,
  requests: readonly ObjectRequest[],
  control: WriteControl,
): Promise<Outcome | undefined> {
  try {
    for (const request of requests)
      if (request.method === "POST") await writes.send(action, request, control, "All");
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind === "cancelled") throw error;
    const { plural } = KINDS[action.objectKind].resource;
    if (wouldTake(error, plural, action.place.name)) return undefined;
    const { knownMessage, kind, why, retryAfterMs } = error;
    if (kind === "terminating" || knownMessage?.kind === "notFound")
      return { kind: "moved", action };
    // No other object is at the place, whatever a webhook reports.
    const denied = kind === "alreadyExists" || kind === "conflict";
    return failed(action, denied ? "forbidden" : kind, why, retryAfterMs);
  }
}

// Whether the API server would accept the successor of a copy that cannot be updated. The input is the
// error of a create with `dryRun=All` while the old copy exists. The API server checks the name last, after
// every webhook, policy and quota. "Already exists" therefore means that nothing else prevents the create. A
// quota may be full only because of the old copy. Every unclear answer counts as no.
// `resource`: the plural of the copy's kind.
function wouldTake({ knownMessage }: ApiError, resource: string, name: string): boolean {
  if (knownMessage?.resource !== resource || knownMessage.name !== name) return false;
  if (knownMessage.kind === "alreadyExists") return true;
  if (knownMessage.kind !== "exceededQuota") return false;
  return knownMessage.figures.every((figure) => fitsWithoutOne(resource, figure));
}

// The old copy counts as one in each of these, and as zero in any other.
function fitsWithoutOne(
  plural: string,
  { resource, requested, used, limited }: QuotaFigure,
): boolean {
  return [plural, `count/${plural}`].includes(resource) && used - 1 + requested <= limited;
}
