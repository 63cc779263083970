// The only writer of Secrets and ConfigMaps: action → requests → outcome. Promises:
// - Every write has the preconditions that the planner put into it.
// - Nothing is thrown. A failure is an outcome.
// - No write starts, or continues, after the time for which this process may write.
// - No request is sent after an event has changed the decision behind its action.
// - A copy is deleted for its successor only after the API server has confirmed that it would accept that.
// It also answers the planner's questions (live-reader.ts).
import { causeOf } from "../../kube/rest/error-text.ts";
import { ApiError, asTimeout, type ApiErrorKind } from "../../kube/rest/api-error.ts";
import { causeText, type FailureCause } from "../../kube/rest/failure-cause.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isKubeObject, resourcePath } from "../../kube/rest/resource.ts";
import type { DataCache } from "../state/data-cache.ts";
import type { CopyObject, CachedObject, SourcePayload, SourceObject } from "../model/cluster.ts";
import { KINDS, type ObjectKind } from "../model/kinds.ts";
import { stringOf } from "../model/unstructured.ts";
import { readRecord } from "../observed/read-copy.ts";
import { emptyingFill, fillFor, readPullState } from "../desired/pull-fill.ts";
import {
  copyRequests,
  endRequests,
  fillRequest,
  type FillAction,
  type ObjectRequest,
} from "../plan/requests.ts";
import type { LookupResult, Outcome } from "./outcome.ts";
import { LiveReader } from "./live-reader.ts";
import { wouldTake } from "./rehearsal.ts";
import { isVersion, SourceData } from "./source-data.ts";
import { type Ref, refText } from "../../text/names.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import type { Action, LiveRead, Reservation } from "../model/actions.ts";
import { abandonable } from "../../kube/time/deadline.ts";
import { ReservationsFull } from "./reservation-record.ts";

export type ApplyDeps = {
  readonly client: ApiClient;
  /** Milliseconds for which this process may write. It may not write at 0 or less. */
  readonly writeDeadlineMs: () => number;
  /** Called for every write that was answered: its verb and `ok` or the error's kind. */
  readonly onWrite: (verb: string, result: "ok" | ApiErrorKind) => void;
  readonly onAnswer: (question: LiveRead, answer: LookupResult) => void;
  /** Whether nothing is ever written there, regardless of the plan. */
  readonly isReserved: (kind: ObjectKind, place: Ref) => boolean;
  /** Makes a reservation before a copy is deleted for its successor. Rejects if that is not possible. */
  readonly reservations: {
    /** Where lasting reservations are stored, for messages. */
    readonly where: string;
    readonly reserve: (reservation: Reservation) => Promise<void>;
  };
  /** Stores an object that was read in the cache. */
  readonly remember: (kind: ObjectKind, raw: unknown) => void;
  /** The object as the cache would store it. */
  readonly read: (kind: ObjectKind, raw: unknown) => CachedObject | undefined;
  readonly sources: {
    /** The stored data of sources. */
    readonly cache: DataCache;
    readonly read: (raw: unknown, source: SourceObject) => SourcePayload | undefined;
    /** A source was read again. */
    readonly onRead: () => void;
  };
};

/** What can stop an action after it was started. */
export type Course = {
  /** When it aborts, the action ends as if no answer had come in time. */
  readonly cut?: AbortSignal | undefined;
  /** Whether an event has changed the decision behind the action. No further request is sent then. */
  readonly isOvertaken?: (() => boolean) | undefined;
};

const TIMEOUT_MS = 30_000;
const MOST_DELETES = 3;
// The object has another version or no longer exists, or its namespace is missing or being deleted. The watch
// will soon report it.
const MOVED: readonly ApiErrorKind[] = ["conflict", "notFound", "terminating"];
const VERB = { GET: "get", POST: "create", PATCH: "patch", DELETE: "delete" } as const;

export class Apply {
  readonly #deps: ApplyDeps;
  readonly #cancelled = new AbortController();
  readonly #live: LiveReader;
  readonly #sourceData: SourceData;

  constructor(deps: ApplyDeps) {
    this.#deps = deps;
    const { client, sources, remember } = deps;
    this.#live = new LiveReader(client, this.#cancelled.signal);
    const get = (kind: ObjectKind, place: Ref): Promise<unknown> => this.#live.object(kind, place);
    this.#sourceData = new SourceData({ ...sources, remember, get });
  }

  /** Never rejects. */
  async perform(action: Action, course: Course = {}): Promise<Outcome> {
    try {
      return await this.#write(action, course);
    } catch (error) {
      return this.#outcomeOf(action, error);
    }
  }

  /** Cuts off all requests in flight, so their effect is unknown. No request starts after it. */
  cancel(): void {
    this.#cancelled.abort();
  }

  async #write(action: Action, course: Course): Promise<Outcome> {
    const { objectKind, place } = action;
    // The planner never has such a place. This check protects against a planner bug.
    if (writes(action) && this.#deps.isReserved(objectKind, place)) {
      const what = `write ${objectKind.toLowerCase()} ${refText(place)}`;
      throw new ApiError(what, { kind: "forbidden", reason: "Reserved" });
    }
    switch (action.kind) {
      case "liveGet":
        return this.#look(action, course);
      case "confirm":
        return this.#ask(action);
      case "delete":
        return this.#delete(action, course);
      case "release":
        return {
          kind: "done",
          action,
          object: await this.#sendAll(action, endRequests(action), course),
        };
      case "fill":
      case "unfill":
        return this.#fill(action, course);
      case "create":
      case "update":
      case "replace":
      case "adopt": {
        const payload = await this.#sourceData.payload(action.content.source);
        if (!payload) return { kind: "moved", action, ofSource: true };
        const recorded = action.kind === "update" ? await this.#recordOf(action, course) : "";
        if (recorded === undefined) return { kind: "moved", action };
        const requests = copyRequests(action, payload, recorded);
        const refusal =
          action.kind === "replace"
            ? ((await this.#rehearse(action, requests, course)) ??
              (await this.#reserve(action, course)))
            : undefined;
        if (refusal) return refusal;
        const object = await this.#sendAll(action, requests, course);
        return { kind: "done", action, object };
      }
    }
  }

  /**
   * A client that rewrites a copy faster than the watch reports cannot prevent its deletion. The copy is read
   * live. While it is the same copy, it is deleted with the version that was read.
   */
  async #delete(action: Action & { kind: "delete" }, course: Course): Promise<Outcome> {
    let target: CopyObject = action.target;
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.#sendAll(action, endRequests({ ...action, target }), course);
        return answer === undefined
          ? { kind: "removed", action, absent: true }
          : { kind: "removed", action };
      } catch (error) {
        const moved = error instanceof ApiError && error.kind === "conflict";
        if (!moved || tries === MOST_DELETES) throw error;
      }
      const raw = await this.#live.object(action.objectKind, action.place, course.cut);
      if (raw === undefined) return { kind: "removed", action, absent: true };
      const found = this.#deps.read(action.objectKind, raw);
      if (!isSameCopy(found, action.target)) {
        this.#deps.remember(action.objectKind, raw);
        return { kind: "moved", action };
      }
      if (found.deleting) return { kind: "leaving", action, object: raw };
      target = found;
    }
  }

  /** The record of what was copied. Undefined if the copy has another version by now. */
  async #recordOf(
    { objectKind, place, target }: Action & { kind: "update" },
    course: Course,
  ): Promise<string | undefined> {
    if (target.template.copiedKeys !== undefined) return target.template.copiedKeys;
    const raw = await this.#live.object(objectKind, place, course.cut);
    if (isVersion(raw, target)) return readRecord(raw);
    if (raw !== undefined) this.#deps.remember(objectKind, raw);
    return undefined;
  }

  async #sendAll(
    action: Action,
    requests: readonly ObjectRequest[],
    course: Course,
  ): Promise<unknown> {
    let object: unknown;
    for (const request of requests) {
      object = await this.#send(action, request, course);
      if (request.method === "DELETE" && isLeaving(object)) throw new Leaving(object);
    }
    return object;
  }

  /** The obstacle to a replace. Undefined if the API server would accept the successor. */
  async #rehearse(
    action: Action,
    requests: readonly ObjectRequest[],
    course: Course,
  ): Promise<Outcome | undefined> {
    try {
      for (const request of requests)
        if (request.method === "POST") await this.#send(action, request, course, "All");
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind === "cancelled") throw error;
      const { plural } = KINDS[action.objectKind].resource;
      if (wouldTake(error, plural, action.place.name)) return undefined;
      const { ownWords, kind, why, retryAfterMs } = error;
      if (kind === "terminating" || ownWords?.kind === "notFound") return { kind: "moved", action };
      // No other object is at the place, whatever a webhook reports.
      const denied = kind === "alreadyExists" || kind === "conflict";
      return failed(action, denied ? "forbidden" : kind, why, retryAfterMs);
    }
  }

  /** Why the copy is not deleted. Undefined if its place is reserved or need not be. */
  async #reserve(
    action: Action & { kind: "replace" },
    { cut }: Course,
  ): Promise<Outcome | undefined> {
    const { where, reserve } = this.#deps.reservations;
    const signal = cut ?? this.#cancelled.signal;
    try {
      await abandonable(reserve(action.reservation), signal);
      return undefined;
    } catch (error) {
      const what = "reserve a place";
      const stopped = new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
      if (signal.aborted) throw asTimeout(what, stopped, this.#cancelled.signal);
      if (error instanceof ReservationsFull) return { kind: "moved", action };
      if (!action.mustLast) return undefined;
      const { word, text } = causeOf(error);
      const why = `the copy is not deleted for its successor, because that cannot be recorded on the ${where} first (${text}); set ${annotationKey("accept")} on the namespace, or make the Lease writable`;
      const kind = error instanceof ApiError ? error.kind : "unavailable";
      return failed(action, kind === "notFound" ? "forbidden" : kind, { word, text: why });
    }
  }

  /** Only a live read shows what is to be written into a pulling Secret. */
  async #fill(action: FillAction, course: Course): Promise<Outcome> {
    const { objectKind, place, target, decisionKey } = action;
    const source = action.kind === "fill" ? action.content.source : undefined;
    const payload = source && (await this.#sourceData.payload(source));
    const raw =
      source && !payload ? undefined : await this.#live.object(objectKind, place, course.cut);
    if (!isVersion(raw, target)) {
      if (raw !== undefined) this.#deps.remember(objectKind, raw);
      return { kind: "moved", action };
    }
    const state = readPullState(KINDS[objectKind], raw);
    if (!source || !payload) {
      const object = await this.#send(action, fillRequest(action, emptyingFill(state)), course);
      return { kind: "done", action, object };
    }
    const filling = fillFor(state, source, payload);
    const { uid, resourceVersion } = target;
    const answer = { uid, resourceVersion, decisionKey };
    if ("code" in filling)
      return { kind: "resolved", action, resolution: { ...answer, conflict: filling } };
    const { fill, shadowed, isRefill } = filling;
    if (!fill) return { kind: "resolved", action, resolution: { ...answer, conflict: shadowed } };
    const object = await this.#send(action, fillRequest(action, fill), course);
    // A webhook may have changed what was written.
    const left = fillFor(readPullState(KINDS[objectKind], object), source, payload);
    const settled = !("code" in left) && !left.fill && isKubeObject(object);
    const resolution = settled
      ? {
          uid,
          resourceVersion: object.metadata.resourceVersion,
          decisionKey,
          conflict: left.shadowed,
        }
      : undefined;
    return { kind: "done", action, object, resolution, isRefill };
  }

  async #send(
    action: Action,
    { method, body, contentType }: ObjectRequest,
    course: Course,
    dryRun?: "All",
  ): Promise<unknown> {
    const { namespace, name } = action.place;
    const verb = VERB[method];
    const { resource } = KINDS[action.objectKind];
    const noun = resource.kind.toLowerCase();
    const what = `${dryRun ? "dry-run " : ""}${verb} ${noun} ${refText(action.place)}`;
    const left = this.#deps.writeDeadlineMs();
    if (left <= 0 || this.#cancelled.signal.aborted) throw new LeaseExpired();
    const isOvertaken = (): boolean => course.isOvertaken?.() === true;
    if (isOvertaken()) throw new Overtaken();
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
        signal: course.cut ?? this.#cancelled.signal,
        timeoutMs: Math.min(TIMEOUT_MS, left),
        // The request may have waited for a connection, or the whole process may have been stopped.
        permitted: () => {
          if (this.#deps.writeDeadlineMs() <= 0) refused = new LeaseExpired();
          else if (isOvertaken()) refused = new Overtaken();
          return refused === undefined;
        },
      });
      if (!dryRun) this.#deps.onWrite(verb, "ok");
      return answer;
    } catch (thrown) {
      if (refused) throw refused;
      const error = asTimeout(what, thrown, this.#cancelled.signal);
      if (error instanceof ApiError && !dryRun) this.#deps.onWrite(verb, error.kind);
      // A delete of a missing object has succeeded.
      if (method === "DELETE" && error instanceof ApiError && error.kind === "notFound")
        return undefined;
      throw error;
    }
  }

  async #look(action: Action, course: Course = {}): Promise<Outcome> {
    return {
      kind: "found",
      action,
      object: await this.#live.object(action.objectKind, action.place, course.cut),
    };
  }

  async #ask(action: Action & { kind: "confirm" }): Promise<Outcome> {
    let silence: LookupResult | undefined;
    for (const question of action.questions) {
      const answer = silence ?? (await this.#live.answerTo(question));
      this.#deps.onAnswer(question, answer);
      // The other questions would wait as long, one after the other.
      if (answer.kind === "unreadable" && answer.silent) silence = answer;
    }
    return { kind: "answered", action };
  }

  async #outcomeOf(action: Action, error: unknown): Promise<Outcome> {
    if (error instanceof LeaseExpired) return { kind: "stopped", action };
    if (error instanceof Overtaken) return { kind: "moved", action, ofSource: true };
    if (error instanceof Leaving) return { kind: "leaving", action, object: error.object };
    if (!(error instanceof ApiError)) return failed(action, "unavailable", causeOf(error));
    if (error.kind === "cancelled") return { kind: "stopped", action };
    const creates = action.kind === "create" || action.kind === "replace";
    if (error.kind === "alreadyExists" && creates) return this.#outcomeOfTaken(action);
    if (MOVED.includes(error.kind)) return { kind: "moved", action };
    return failed(action, error.kind, error.why, error.retryAfterMs);
  }

  /** A create found an object: read it, so that the next sync judges the actual object. */
  async #outcomeOfTaken(action: Action): Promise<Outcome> {
    try {
      return await this.#look(action);
    } catch (error) {
      return failed(action, "alreadyExists", causeOf(error));
    }
  }
}

function failed(
  action: Action,
  error: ApiErrorKind,
  why: FailureCause,
  retryAfterMs?: number,
): Outcome {
  const reason = causeText(why, action.place.namespace);
  return { kind: "failed", action, error, cause: why.word, reason, retryAfterMs };
}

class LeaseExpired extends Error {}

/** An event has changed the decision behind the action. */
class Overtaken extends Error {}

/** A finalizer holds the deleted object. */
class Leaving extends Error {
  readonly object: unknown;

  constructor(object: unknown) {
    super("being deleted");
    this.object = object;
  }
}

function isLeaving(object: unknown): boolean {
  return isKubeObject(object) && stringOf(object.metadata["deletionTimestamp"]) !== "";
}

// Everything that the removal followed from is unchanged.
function isSameCopy(found: CachedObject | undefined, judged: CopyObject): found is CopyObject {
  return (
    found?.role === "copy" &&
    found.uid === judged.uid &&
    found.template.sourceUid === judged.template.sourceUid &&
    refText(found.template.source) === refText(judged.template.source) &&
    found.template.onDelete === judged.template.onDelete &&
    found.template.entry === judged.template.entry &&
    // A newer version of secretcast has changed it: the copy is frozen.
    found.template.unknownMark === judged.template.unknownMark
  );
}

function writes({ kind }: Action): boolean {
  return kind !== "confirm" && kind !== "liveGet";
}
