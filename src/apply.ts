// The only writer of Secrets: action → requests → outcome. Promises: every write carries the
// preconditions that the planner put into it; a write that removes a copy because its source is gone
// first asks the API server itself whether that is so; nothing is thrown, a failure is an outcome; no
// write begins once we may not write any more, and none outlives that permission.
import { faultText } from "./fault.ts";
import { ApiError, type ApiErrorKind } from "./kube/api-error.ts";
import type { ApiClient } from "./kube/client.ts";
import { isKubeObject, resourcePath, SECRETS } from "./kube/resource.ts";
import type { Ref } from "./core/model.ts";
import { refText } from "./core/model.ts";
import { requestsFor, type SecretRequest } from "./core/requests.ts";
import type { Action, Confirm } from "./core/verdicts.ts";
import type { Absence, Outcome } from "./outcome.ts";

export type ApplyDeps = {
  readonly client: ApiClient;
  /** Milliseconds for which writing is still allowed; 0 or less is no longer. */
  readonly permission: () => number;
  /** Told of every write that was answered: its verb and `ok` or the error's kind. */
  readonly onWrite: (verb: string, result: "ok" | ApiErrorKind) => void;
  readonly onAbsence: (asked: Confirm, answer: Absence) => void;
};

const TIMEOUT_MS = 30_000;
// Another version, gone, or in a namespace that is gone or going: the watch is about to tell.
const MOVED: readonly ApiErrorKind[] = ["conflict", "notFound", "terminating"];
const VERB = { GET: "get", POST: "create", PATCH: "patch", DELETE: "delete" } as const;

export class Apply {
  readonly #deps: ApplyDeps;
  // One live look a source and absence; forgotten when the pass that asked is over.
  readonly #absences = new Map<string, Promise<boolean>>();
  readonly #cancelled = new AbortController();

  constructor(deps: ApplyDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  async perform(action: Action): Promise<Outcome> {
    try {
      if (action.kind === "look") return await this.#look(action);
      if (action.confirm && !(await this.#gone(action.confirm)))
        return { kind: "unconfirmed", action };
      return await this.#write(action);
    } catch (error) {
      return this.#outcomeOf(action, error);
    }
  }

  /** The next removal asks for its source anew. */
  forgetAbsences(): void {
    this.#absences.clear();
  }

  /** Ends every request under way; whether its write was made is then unknown. None begins after it. */
  cancel(): void {
    this.#cancelled.abort();
  }

  async #write(action: Action): Promise<Outcome> {
    let object: unknown;
    for (const request of requestsFor(action)) object = await this.#send(action, request);
    return action.kind === "delete"
      ? { kind: "removed", action }
      : { kind: "done", action, object };
  }

  async #send(action: Action, { method, body, contentType }: SecretRequest): Promise<unknown> {
    const { namespace, name } = action.place;
    const verb = VERB[method];
    const what = `${verb} secret ${refText(action.place)}`;
    const left = this.#deps.permission();
    if (left <= 0 || this.#cancelled.signal.aborted) throw new NoPermission();
    const path = resourcePath(SECRETS, namespace, method === "POST" ? undefined : name);
    try {
      const answer = await this.#deps.client.request<unknown>({
        method,
        path,
        body,
        ...(contentType !== undefined && { contentType }),
        what,
        signal: this.#cancelled.signal,
        timeoutMs: Math.min(TIMEOUT_MS, left),
      });
      this.#deps.onWrite(verb, "ok");
      return answer;
    } catch (error) {
      if (error instanceof ApiError) this.#deps.onWrite(verb, error.kind);
      // A delete that finds nothing has reached its goal.
      if (method === "DELETE" && error instanceof ApiError && error.kind === "notFound")
        return undefined;
      throw error;
    }
  }

  async #look(action: Action): Promise<Outcome> {
    return { kind: "found", action, object: await this.#get(action.place) };
  }

  /** The raw Secret as the API server has it now, or undefined. */
  async #get(place: Ref): Promise<unknown> {
    try {
      return await this.#deps.client.request<unknown>({
        method: "GET",
        path: resourcePath(SECRETS, place.namespace, place.name),
        what: `get secret ${refText(place)}`,
        signal: this.#cancelled.signal,
        timeoutMs: TIMEOUT_MS,
      });
    } catch (error) {
      if (error instanceof ApiError && error.kind === "notFound") return undefined;
      throw error;
    }
  }

  #gone(confirm: Confirm): Promise<boolean> {
    const key = `${refText(confirm.source)}/${confirm.uid}`;
    const known = this.#absences.get(key);
    if (known) return known;
    const asking = this.#ask(confirm);
    this.#absences.set(key, asking);
    return asking;
  }

  async #ask(confirm: Confirm): Promise<boolean> {
    let absence: Absence;
    try {
      const found = await this.#get(confirm.source);
      absence = uidOf(found) === confirm.uid ? { kind: "there" } : { kind: "gone" };
    } catch (error) {
      absence = { kind: "unreadable", reason: faultText(error) };
    }
    this.#deps.onAbsence(confirm, absence);
    return absence.kind === "gone";
  }

  async #outcomeOf(action: Action, error: unknown): Promise<Outcome> {
    if (error instanceof NoPermission) return { kind: "stopped", action };
    if (!(error instanceof ApiError)) return failed(action, "unavailable", faultText(error));
    if (error.kind === "cancelled") return { kind: "stopped", action };
    if (error.kind === "alreadyExists") return this.#outcomeOfTaken(action);
    if (MOVED.includes(error.kind)) return { kind: "moved", action };
    return failed(action, error.kind, error.message, error.retryAfterMs);
  }

  /** A create met somebody: see who it is, so that the next pass judges by what is there. */
  async #outcomeOfTaken(action: Action): Promise<Outcome> {
    try {
      return await this.#look(action);
    } catch (error) {
      return failed(action, "alreadyExists", faultText(error));
    }
  }
}

function failed(
  action: Action,
  error: ApiErrorKind,
  message: string,
  retryAfterMs?: number,
): Outcome {
  return { kind: "failed", action, error, message, retryAfterMs };
}

function uidOf(object: unknown): string | undefined {
  return isKubeObject(object) ? object.metadata.uid : undefined;
}

class NoPermission extends Error {}
