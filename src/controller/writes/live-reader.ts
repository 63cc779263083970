// Live GETs: the current state of an object, and the planner's live reads before removals.
// Promises: an object is absent only if the API server itself reports that. A read that is cut off for waiting
// work ends as if it had timed out.
import { ApiError, asTimeout, type ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import { causeText } from "../../../packages/kube/rest/failure-cause.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { NAMESPACES, resourcePath } from "../../../packages/kube/rest/resource.ts";
import { KINDS, type ObjectKind } from "../model/kinds.ts";
import type { Ref } from "../../text/names.ts";
import type { LookupResult } from "./outcome.ts";
import type { LiveRead } from "../model/actions.ts";

const TIMEOUT_MS = 30_000;
const QUESTION_TIMEOUT_MS = 10_000;
// Errors that concern one object only.
const OF_ONE_OBJECT: readonly ApiErrorKind[] = ["forbidden", "notFound", "invalid", "badRequest"];

export class LiveReader {
  readonly #client: ApiClient;
  /** Cuts off all reads in flight. */
  readonly #cancelled: AbortSignal;

  constructor(client: ApiClient, cancelled: AbortSignal) {
    this.#client = client;
    this.#cancelled = cancelled;
  }

  /** The raw object, or undefined. */
  async object(kind: ObjectKind, place: Ref, cut?: AbortSignal): Promise<unknown> {
    try {
      return await this.#read(kind, place, TIMEOUT_MS, cut);
    } catch (thrown) {
      const error = asTimeout(readText(kind, place), thrown, this.#cancelled);
      if (error instanceof ApiError && error.kind === "notFound") return undefined;
      throw error;
    }
  }

  /** Never rejects. */
  async lookUp({ kind, ref }: LiveRead): Promise<LookupResult> {
    try {
      return { kind: "found", object: await this.#read(kind, ref, QUESTION_TIMEOUT_MS) };
    } catch (error) {
      const known = error instanceof ApiError ? error.knownMessage : undefined;
      const { plural } = resourceOf(kind);
      const name = kind === "Namespace" ? ref.namespace : ref.name;
      // Any other 404 may come from a proxy.
      const absent = known?.kind === "notFound" && known.resource === plural && known.name === name;
      if (absent) return { kind: "absent" };
      const unreachable = !(error instanceof ApiError) || !OF_ONE_OBJECT.includes(error.kind);
      return { kind: "unreadable", reason: causeText(causeOf(error), ref.namespace), unreachable };
    }
  }

  #read(kind: LiveRead["kind"], ref: Ref, timeoutMs: number, cut?: AbortSignal): Promise<unknown> {
    const { namespace, name } = ref;
    return this.#client.request<unknown>({
      method: "GET",
      path:
        kind === "Namespace"
          ? resourcePath(NAMESPACES, undefined, namespace)
          : resourcePath(resourceOf(kind), namespace, name),
      what: readText(kind, ref),
      signal: cut ?? this.#cancelled,
      timeoutMs,
    });
  }
}

function resourceOf(kind: LiveRead["kind"]) {
  if (kind === "Namespace") return NAMESPACES;
  return KINDS[kind === "SourceList" ? "ConfigMap" : kind].resource;
}

function readText(kind: LiveRead["kind"], { namespace, name }: Ref): string {
  const place = kind === "Namespace" ? namespace : `${namespace}/${name}`;
  return `get ${resourceOf(kind).kind.toLowerCase()} ${place}`;
}
