// The only writer of Secrets: action → requests → outcome. Promises: every write carries the
// preconditions that the planner put into it; a write that removes a copy because its source is gone
// first asks the API server itself whether that is so; nothing is thrown, a failure is an outcome; no
// write begins once we may not write any more, and none outlives that permission.
import { ApiError, type ApiErrorKind } from "./kube/api-error.ts";
import type { ApiClient } from "./kube/client.ts";
import { isKubeObject, resourcePath, SECRETS } from "./kube/resource.ts";
import type { Ref } from "./core/model.ts";
import { refText } from "./core/model.ts";
import { requestsFor, type SecretRequest } from "./core/requests.ts";
import type { Action, Confirm } from "./core/verdicts.ts";

export type Outcome =
  /** Written; `objects` are the raw Secrets that the server answered with. */
  | { readonly kind: "done"; readonly action: Action; readonly object: unknown }
  /** Removed, or found removed: nothing of ours is at the place. */
  | { readonly kind: "removed"; readonly action: Action }
  /** The world has moved since the plan: look again shortly. */
  | { readonly kind: "moved"; readonly action: Action }
  /** Somebody's Secret is where the cache shows none; `object` is it, undefined when it has gone. */
  | { readonly kind: "found"; readonly action: Action; readonly object: unknown }
  /** The source of a removal is there after all, or could not be asked for. */
  | { readonly kind: "unconfirmed"; readonly action: Action }
  /** Not tried: this process may not write any more. */
  | { readonly kind: "stopped"; readonly action: Action }
  | {
      readonly kind: "failed";
      readonly action: Action;
      readonly error: ApiErrorKind;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    };

export type ApplyDeps = {
  readonly client: ApiClient;
  /** Milliseconds for which writing is still allowed; 0 or less is no longer. */
  readonly permission: () => number;
  /** Told of every write that was answered: its verb and `ok` or the error's kind. */
  readonly onWrite: (verb: string, result: "ok" | ApiErrorKind) => void;
  readonly onAbsence: (asked: Confirm, answer: Absence) => void;
};

/** What the API server said of a source that the cache does not show. */
export type Absence =
  | { readonly kind: "gone" }
  | { readonly kind: "there" }
  | { readonly kind: "unreadable"; readonly reason: string };

const TIMEOUT_MS = 30_000;
const VERB = { GET: "get", POST: "create", PATCH: "patch", DELETE: "delete" } as const;

export class Apply {
  readonly #deps: ApplyDeps;
  // One live look a source and absence; forgotten when the pass that asked is over.
  readonly #absences = new Map<string, Promise<boolean>>();

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
    if (left <= 0) throw new NoPermission();
    const path = resourcePath(SECRETS, namespace, method === "POST" ? undefined : name);
    try {
      const answer = await this.#deps.client.request<unknown>({
        method,
        path,
        body,
        ...(contentType !== undefined && { contentType }),
        what,
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
      absence = { kind: "unreadable", reason: reasonOf(error) };
    }
    this.#deps.onAbsence(confirm, absence);
    return absence.kind === "gone";
  }

  async #outcomeOf(action: Action, error: unknown): Promise<Outcome> {
    if (error instanceof NoPermission) return { kind: "stopped", action };
    if (!(error instanceof ApiError)) return failed(action, "unavailable", reasonOf(error));
    if (error.kind === "cancelled") return { kind: "stopped", action };
    if (error.kind === "alreadyExists") return this.#outcomeOfTaken(action);
    if (error.kind === "conflict") return { kind: "moved", action };
    if (error.kind === "notFound" && action.kind !== "create" && action.kind !== "replace")
      return { kind: "moved", action };
    return failed(action, error.kind, error.message, error.retryAfterMs);
  }

  /** A create met somebody: see who it is, so that the next pass judges by what is there. */
  async #outcomeOfTaken(action: Action): Promise<Outcome> {
    try {
      return await this.#look(action);
    } catch (error) {
      return failed(action, "alreadyExists", reasonOf(error));
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

/** Of an error of ours its message; of any other only its name, for its message may quote a body. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return `unexpected ${error instanceof Error ? error.name : typeof error}`;
}

function uidOf(object: unknown): string | undefined {
  return isKubeObject(object) ? object.metadata.uid : undefined;
}

class NoPermission extends Error {}
