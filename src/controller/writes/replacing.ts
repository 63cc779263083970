// What must be so before a copy that cannot be updated is deleted for its successor. Promises:
// - The API server has accepted the successor in a dry run.
// - The place is reserved, where it must be.
import { abandonable } from "../../kube/time/deadline.ts";
import { ApiError, asTimeout } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import type { QuotaFigure } from "../../kube/rest/known-message.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import type { Action, Reservation } from "../model/actions.ts";
import { KINDS } from "../model/kinds.ts";
import type { ObjectRequest } from "../plan/requests.ts";
import type { Outcome } from "./outcome.ts";
import { ReservationsFull } from "./reservation-record.ts";
import { failed, type WriteControl, type WriteRequests } from "./write-requests.ts";

/** Makes a reservation before a copy is deleted for its successor. Rejects if that is not possible. */
export type Reserver = {
  /** Where lasting reservations are stored, for messages. */
  readonly where: string;
  readonly reserve: (reservation: Reservation) => Promise<void>;
};

type Replace = Action & { kind: "replace" };

export class Replacing {
  readonly #requests: WriteRequests;
  readonly #reserver: Reserver;
  readonly #cancelled: AbortSignal;

  constructor(requests: WriteRequests, reserver: Reserver, cancelled: AbortSignal) {
    this.#requests = requests;
    this.#reserver = reserver;
    this.#cancelled = cancelled;
  }

  /** Why the copy is not deleted. Undefined if it may be. */
  async obstacle(
    action: Replace,
    requests: readonly ObjectRequest[],
    control: WriteControl,
  ): Promise<Outcome | undefined> {
    return (await this.#rehearse(action, requests, control)) ?? this.#reserve(action, control);
  }

  /** The obstacle to a replace. Undefined if the API server would accept the successor. */
  async #rehearse(
    action: Replace,
    requests: readonly ObjectRequest[],
    control: WriteControl,
  ): Promise<Outcome | undefined> {
    try {
      for (const request of requests)
        if (request.method === "POST") await this.#requests.send(action, request, control, "All");
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

  /** Why the copy is not deleted. Undefined if its place is reserved or need not be. */
  async #reserve(action: Replace, control: WriteControl): Promise<Outcome | undefined> {
    const { where, reserve } = this.#reserver;
    const signal = control.signal ?? this.#cancelled;
    try {
      await abandonable(reserve(action.reservation), signal);
      return undefined;
    } catch (error) {
      const what = "reserve a place";
      const stopped = new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
      if (signal.aborted) throw asTimeout(what, stopped, this.#cancelled);
      if (error instanceof ReservationsFull) return { kind: "moved", action };
      if (!action.mustLast) return undefined;
      const { cause, text } = causeOf(error);
      const why = `the copy is not deleted for its successor, because that cannot be recorded on the ${where} first (${text}); set ${annotationKey("accept")} on the namespace, or make the Lease writable`;
      const kind = error instanceof ApiError ? error.kind : "unavailable";
      return failed(action, kind === "notFound" ? "forbidden" : kind, { cause, text: why });
    }
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
