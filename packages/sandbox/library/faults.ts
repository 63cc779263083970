// Faults that a test injects: which request each one happens to, and what the server does then. Every
// matching request counts for every fault.
import type { Injected, SeenRequest } from "../options.ts";
import { StatusError } from "../storage/status.ts";
import type { Schedule } from "../storage/schedule.ts";
import { checkFault, isOfWatch, type ResourceNames } from "./checks.ts";
import type { Effect, Fault, InjectedFault, RequestMatch, Verb } from "./contract.ts";

type Entry = { readonly fault: Fault; seen: number; hits: number };

export class Faults {
  readonly #entries = new Set<Entry>();
  readonly #schedule: Schedule;
  readonly #served: () => readonly ResourceNames[];

  constructor(schedule: Schedule, served: () => readonly ResourceNames[]) {
    this.#schedule = schedule;
    this.#served = served;
  }

  /** Throws a RangeError for a fault that can never happen. */
  inject(fault: Fault): InjectedFault {
    checkFault(fault, this.#served());
    const entry: Entry = { fault: { ...fault }, seen: 0, hits: 0 };
    this.#entries.add(entry);
    return {
      get hits() {
        return entry.hits;
      },
      remove: () => void this.#entries.delete(entry),
    };
  }

  /** What the server does with this request; undefined if it answers. */
  async before(request: SeenRequest): Promise<Injected | undefined> {
    const effect = this.#effectOn(request);
    if (effect === undefined) return undefined;
    if (effect.kind !== "delay") return injectedBy(effect);
    await new Promise<void>((resolve) => this.#schedule(resolve, effect.ms));
    return undefined;
  }

  #effectOn(request: SeenRequest): Effect | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries) {
      const { fault } = entry;
      if (!matches(fault, request)) continue;
      entry.seen++;
      const { nth = 1, times = 1 } = fault;
      if (entry.seen >= nth && entry.seen < nth + times) first ??= entry;
    }
    if (first !== undefined) first.hits++;
    return first?.fault.effect;
  }
}

function matches(fault: Fault, request: SeenRequest): boolean {
  const { verb, resource, namespace, name } = fault;
  const is = targetOf(request);
  const wanted = isOfWatch(fault.effect) ? "watch" : verb;
  return (
    (wanted === undefined || wanted === is.verb) &&
    (resource === undefined || resource === is.resource) &&
    (namespace === undefined || namespace === is.namespace) &&
    (name === undefined || name === is.name)
  );
}

function targetOf({ method, target, query, watch }: SeenRequest): RequestMatch {
  if (target === undefined) return {};
  const { resource, subresource, namespace, name } = target;
  const selected = /^metadata\.name=([^,!=]+)$/.exec(query.get("fieldSelector") ?? "")?.[1];
  return {
    verb: verbOf(method, watch, name),
    resource: subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`,
    ...(namespace !== undefined && { namespace }),
    // As RBAC reads a list of one name.
    ...((name ?? selected) !== undefined && { name: name ?? selected ?? "" }),
  };
}

const VERB_OF: Readonly<Record<string, Verb>> = { POST: "create", PUT: "update", PATCH: "patch" };

function verbOf(method: string, watch: boolean, name: string | undefined): Verb {
  if (method === "DELETE") return name === undefined ? "deletecollection" : "delete";
  if (watch) return "watch";
  return VERB_OF[method] ?? (name === undefined ? "list" : "get");
}

function injectedBy(effect: Exclude<Effect, { readonly kind: "delay" }>): Injected {
  switch (effect.kind) {
    case "reset":
      return "reset";
    case "cut":
    case "expire":
      return { watch: effect.kind, afterEvents: effect.afterEvents };
    case "answer": {
      const { code, headers = {}, body = "" } = effect;
      return { status: code, headers, body };
    }
    case "status": {
      const { code, reason, message, retryAfter } = effect;
      const details = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
      const known = REASONS[code] ?? (code < 500 ? "" : "InternalError");
      const error = new StatusError(code, reason ?? known, message ?? "injected fault", details);
      return { status: error.code, headers: error.headers, body: error.status };
    }
  }
}

/** As the API server names its errors. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};
