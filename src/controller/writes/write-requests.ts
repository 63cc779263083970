// Sends the requests of an action, one after the other. Promises:
// - No write starts, or continues, after the time for which this process may write.
// - No request is sent after an event has changed the decision behind its action.
import { ApiError, asTimeout, type ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import { causeText, type FailureCause } from "../../../packages/kube/rest/failure-cause.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { isKubeObject, resourcePath } from "../../../packages/kube/rest/resource.ts";
import { refText } from "../../text/names.ts";
import type { Action } from "../model/actions.ts";
import { KINDS } from "../model/kinds.ts";
import { stringOf } from "../model/unstructured.ts";
import type { ObjectRequest } from "./object-requests.ts";
import type { Outcome } from "./outcome.ts";

export type RequestDeps = {
  readonly client: ApiClient;
  /** Milliseconds for which this process may write. It may not write at 0 or less. */
  readonly writeDeadlineMs: () => number;
  /** Called for every write that was answered: its verb and `ok` or the error's kind. */
  readonly onWrite: (verb: string, result: "ok" | ApiErrorKind) => void;
};

/** What can stop an action after it was started. */
export type WriteControl = {
  /** When it aborts, the action ends as if no answer had come in time. */
  readonly signal?: AbortSignal | undefined;
  /** Whether an event has changed the decision behind the action. No further request is sent then. */
  readonly isDecisionChanged?: (() => boolean) | undefined;
};

const TIMEOUT_MS = 30_000;
const VERB = { POST: "create", PATCH: "patch", DELETE: "delete" } as const;

/** The outcome of an action whose request failed. */
export function failed(
  action: Action,
  error: ApiErrorKind,
  why: FailureCause,
  retryAfterMs?: number,
): Outcome {
  const reason = causeText(why, action.place.namespace);
  return { kind: "failed", action, error, cause: why.cause, reason, retryAfterMs };
}

export class LeaseExpired extends Error {}

/** An event has changed the decision behind the action. */
export class DecisionChanged extends Error {}

/** A finalizer holds the deleted object. */
export class Terminating extends Error {
  readonly object: unknown;

  constructor(object: unknown) {
    super("being deleted");
    this.object = object;
  }
}

function isTerminating(object: unknown): boolean {
  return isKubeObject(object) && stringOf(object.metadata["deletionTimestamp"]) !== "";
}

export class WriteRequests {
  readonly #deps: RequestDeps;
  /** Cuts off all requests in flight, and no request starts after it. */
  readonly #cancelled: AbortSignal;

  constructor(deps: RequestDeps, cancelled: AbortSignal) {
    this.#deps = deps;
    this.#cancelled = cancelled;
  }

  /** One after the other. Returns the last answer. */
  async sendAll(
    action: Action,
    requests: readonly ObjectRequest[],
    control: WriteControl,
  ): Promise<unknown> {
    let object: unknown;
    for (const request of requests) {
      object = await this.send(action, request, control);
      if (request.method === "DELETE" && isTerminating(object)) throw new Terminating(object);
    }
    return object;
  }

  async send(
    action: Action,
    request: ObjectRequest,
    control: WriteControl,
    dryRun?: "All",
  ): Promise<unknown> {
    const { method, namespace, name, body, contentType } = request;
    const verb = VERB[method];
    const { resource } = KINDS[action.objectKind];
    const noun = resource.kind.toLowerCase();
    const what = `${dryRun ? "dry-run " : ""}${verb} ${noun} ${refText(request)}`;
    const left = this.#deps.writeDeadlineMs();
    if (left <= 0 || this.#cancelled.aborted) throw new LeaseExpired();
    const isDecisionChanged = (): boolean => control.isDecisionChanged?.() === true;
    if (isDecisionChanged()) throw new DecisionChanged();
    const path = resourcePath(resource, namespace, method === "POST" ? undefined : name);
    let refused: Error | undefined;
    try {
      const answer = await this.#deps.client.request<unknown>({
        method,
        path,
        ...(dryRun && { query: { dryRun } }),
        body,
        ...(contentType !== undefined && { contentType }),
        what,
        signal: control.signal ?? this.#cancelled,
        timeoutMs: Math.min(TIMEOUT_MS, left),
        // The request may have waited for a connection, or the whole process may have been stopped.
        mayStillSend: () => {
          if (this.#deps.writeDeadlineMs() <= 0) refused = new LeaseExpired();
          else if (isDecisionChanged()) refused = new DecisionChanged();
          return refused === undefined;
        },
      });
      if (!dryRun) this.#deps.onWrite(verb, "ok");
      return answer;
    } catch (thrown) {
      if (refused) throw refused;
      const error = asTimeout(what, thrown, this.#cancelled);
      if (error instanceof ApiError && !dryRun) this.#deps.onWrite(verb, error.kind);
      // A delete of a missing object has succeeded.
      if (method === "DELETE" && error instanceof ApiError && error.kind === "notFound")
        return undefined;
      throw error;
    }
  }
}
