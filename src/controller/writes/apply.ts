// The only writer of Secrets and ConfigMaps: action → requests → outcome. Promises: every write carries the
// preconditions that the planner put into it; nothing is thrown, a failure is an outcome; no write
// begins once we may not write any more, and none outlives that permission; no request of an action is
// sent after an event has changed the decision behind it; a copy is deleted for its
// successor only when the API server has said that it would take that. It also asks the planner's
// questions (live-reader.ts).
import { causeOf } from "../../kube/rest/error-text.ts";
import { ApiError, type ApiErrorKind } from "../../kube/rest/api-error.ts";
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
import { asTimeout, LiveReader } from "./live-reader.ts";
import { wouldTake } from "./rehearsal.ts";
import { isVersion, SourceData } from "./source-data.ts";
import { type Ref, refText } from "../../text/names.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import type { Action, LiveRead, Reservation } from "../model/actions.ts";
import { abandonable } from "../../kube/time/deadline.ts";
import { ReservationsFull } from "./reservation-record.ts";

export type ApplyDeps = {
  readonly client: ApiClient;
  /** Milliseconds for which writing is still allowed; 0 or less is no longer. */
  readonly writeDeadlineMs: () => number;
  /** Informed of every write that was answered: its verb and `ok` or the error's kind. */
  readonly onWrite: (verb: string, result: "ok" | ApiErrorKind) => void;
  readonly onAnswer: (question: LiveRead, answer: LookupResult) => void;
  /** Whether nothing is ever written there, whatever the planner says. */
  readonly isReserved: (kind: ObjectKind, place: Ref) => boolean;
  /** Makes a reservation before a copy is deleted for its successor; rejects where that is not possible. */
  readonly reservations: {
    /** Where the lasting ones are, for people. */
    readonly where: string;
    readonly reserve: (reservation: Reservation) => Promise<void>;
  };
  /** Takes an object that was read into the cache. */
  readonly remember: (kind: ObjectKind, raw: unknown) => void;
  /** As the cache would hold it. */
  readonly read: (kind: ObjectKind, raw: unknown) => CachedObject | undefined;
  readonly sources: {
    /** The data that are kept of sources. */
    readonly cache: DataCache;
    readonly read: (raw: unknown, source: SourceObject) => SourcePayload | undefined;
    /** A source was read again. */
    readonly onRead: () => void;
  };
};

/** What can stop an action after it was started. */
export type Course = {
  /** Once it aborts, the action ends as if no answer had come in time. */
  readonly cut?: AbortSignal | undefined;
  /** Whether an event has changed the decision behind the action. No further request of it is then sent. */
  readonly isOvertaken?: (() => boolean) | undefined;
};

const TIMEOUT_MS = 30_000;
const MOST_DELETES = 3;
// Another version, gone, or in a namespace that does not exist or is being deleted: the watch is about to tell.
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

  /** Ends every request under way; whether its write was made is then unknown. None begins after it. */
  cancel(): void {
    this.#cancelled.abort();
  }

  async #write(action: Action, course: Course): Promise<Outcome> {
    const { objectKind, place } = action;
    // The planner has no such place: this is for the day on which it is wrong.
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
   * Who rewrites a copy faster than the watch tells does not keep it: it is looked at live and, as long
   * as it is the copy that was judged, deleted under the version that was seen.
   */
  async #delete(action: Action & { kind: "delete" }, course: Course): Promise<Outcome> {
    let target: CopyObject = action.target;
    for (let tries = 1; ; tries++) {
      try {
        await this.#sendAll(action, endRequests({ ...action, target }), course);
        return { kind: "removed", action };
      } catch (error) {
        const moved = error instanceof ApiError && error.kind === "conflict";
        if (!moved || tries === MOST_DELETES) throw error;
      }
      const raw = await this.#live.object(action.objectKind, action.place, course.cut);
      if (raw === undefined) return { kind: "removed", action };
      const found = this.#deps.read(action.objectKind, raw);
      if (!isSameCopy(found, action.target)) {
        this.#deps.remember(action.objectKind, raw);
        return { kind: "moved", action };
      }
      if (found.deleting) return { kind: "leaving", action, object: raw };
      target = found;
    }
  }

  /** What was copied onto a copy; undefined: it is another by now. */
  async #recordOf(
    { objectKind, place, target }: Action & { kind: "update" },
    course: Course,
  ): Promise<string | undefined> {
    if (target.copiedKeys !== undefined) return target.copiedKeys;
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

  /** What speaks against a replace; undefined: the API server would take the successor. */
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
      // Nobody else is at the place, whatever a webhook says.
      const denied = kind === "alreadyExists" || kind === "conflict";
      return failed(action, denied ? "forbidden" : kind, why, retryAfterMs);
    }
  }

  /** Why the copy is not deleted; undefined: its place is reserved, or need not be. */
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

  /** What is to be written into a pulling Secret shows only a look at it. */
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
    if (typeof filling === "string")
      return { kind: "resolved", action, resolution: { ...answer, conflict: filling } };
    const { fill, shadowed, isRefill } = filling;
    if (!fill) return { kind: "resolved", action, resolution: { ...answer, conflict: shadowed } };
    const object = await this.#send(action, fillRequest(action, fill), course);
    // Somebody on the way may have made something else of it.
    const left = fillFor(readPullState(KINDS[objectKind], object), source, payload);
    const settled = typeof left !== "string" && !left.fill && isKubeObject(object);
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
        // It may have waited for a connection, or the whole process may have been stopped.
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
      // A delete that finds nothing has reached its goal.
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
      // The rest would wait as long, one after the other.
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

  /** A create met somebody: see who it is, so that the next sync judges by what is there. */
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

/** A finalizer holds what was deleted. */
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

// All that its ending followed from is as it was.
function isSameCopy(found: CachedObject | undefined, judged: CopyObject): found is CopyObject {
  return (
    found?.role === "copy" &&
    found.uid === judged.uid &&
    found.sourceUid === judged.sourceUid &&
    refText(found.source) === refText(judged.source) &&
    found.onDelete === judged.onDelete &&
    found.entry === judged.entry &&
    // A newer version's, by now: it freezes.
    found.unknownMark === judged.unknownMark
  );
}

function writes({ kind }: Action): boolean {
  return kind !== "confirm" && kind !== "liveGet";
}
