// The only writer of Secrets and ConfigMaps: action → requests → outcome. Promises:
// - Every write has the preconditions that the planner put into it.
// - Nothing is thrown. A failure is an outcome.
// - No write starts, or continues, after the time for which this process may write.
// - No request is sent after an event has changed the decision behind its action.
// - A copy is deleted for its successor only after the API server has confirmed that it would accept that.
// It also makes the planner's live reads (live-reader.ts).
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import { ApiError, type ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import { isKubeObject } from "../../../packages/kube/rest/resource.ts";
import type { CopyObject, CachedObject } from "../model/cluster.ts";
import { KINDS, type ObjectKind } from "../model/kinds.ts";
import { readRecord } from "../observed/read-copy.ts";
import { emptyingFill, fillFor, readPullState } from "../desired/pull-fill.ts";
import {
  copyRequests,
  endRequests,
  fillRequest,
  type FillAction,
  type ObjectRequest,
} from "./object-requests.ts";
import type { LookupResult, Outcome } from "./outcome.ts";
import { LiveReader } from "./live-reader.ts";
import { rehearse, type ReplaceAction } from "./rehearse.ts";
import {
  Terminating,
  LeaseExpired,
  DecisionChanged,
  WriteRequests,
  failed,
  type WriteControl,
  type RequestDeps,
} from "./write-requests.ts";
import { isVersion, SourceData, type SourceDataDeps } from "./source-data.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Action, LiveRead } from "../model/actions.ts";

export type ApplyDeps = RequestDeps & {
  readonly onLiveRead: (liveRead: LiveRead, answer: LookupResult) => void;
  /** Whether nothing is ever written there, regardless of the plan. */
  readonly isReserved: (kind: ObjectKind, place: Ref) => boolean;
  /** Called before a copy is deleted for its successor. */
  readonly onReplace: (action: ReplaceAction) => void;
  /** Removes an object that was deleted from the cache. */
  readonly forget: (kind: ObjectKind, place: Ref, uid: string) => void;
  /** Stores an object that was read in the cache. */
  readonly remember: (kind: ObjectKind, raw: unknown) => void;
  /** The object as the cache would store it. */
  readonly read: (kind: ObjectKind, raw: unknown) => CachedObject | undefined;
  readonly sources: Omit<SourceDataDeps, "get" | "remember">;
};

const MOST_DELETES = 3;
// The object has another version or no longer exists, or its namespace is missing or being deleted. The watch
// will soon report it.
const MOVED: readonly ApiErrorKind[] = ["conflict", "notFound", "terminating"];

export class Apply {
  readonly #deps: ApplyDeps;
  readonly #cancelled = new AbortController();
  readonly #live: LiveReader;
  readonly #requests: WriteRequests;
  readonly #sourceData: SourceData;

  constructor(deps: ApplyDeps) {
    this.#deps = deps;
    const { client, sources, remember } = deps;
    this.#live = new LiveReader(client, this.#cancelled.signal);
    this.#requests = new WriteRequests(deps, this.#cancelled.signal);
    const get = (kind: ObjectKind, place: Ref): Promise<unknown> => this.#live.object(kind, place);
    this.#sourceData = new SourceData({ ...sources, remember, get });
  }

  /** Never rejects. */
  async perform(action: Action, control: WriteControl = {}): Promise<Outcome> {
    try {
      return await this.#write(action, control);
    } catch (error) {
      return this.#outcomeOf(action, error);
    }
  }

  /** Cuts off all requests in flight, so their effect is unknown. No request starts after it. */
  cancel(): void {
    this.#cancelled.abort();
  }

  async #write(action: Action, control: WriteControl): Promise<Outcome> {
    const { objectKind, place } = action;
    // The planner never has such a place. This check protects against a planner bug.
    if (writes(action) && this.#deps.isReserved(objectKind, place)) {
      const what = `write ${objectKind.toLowerCase()} ${refText(place)}`;
      throw new ApiError(what, { kind: "forbidden", reason: "Reserved" });
    }
    switch (action.kind) {
      case "liveGet":
        return this.#look(action, control);
      case "confirm":
        return this.#readLive(action);
      case "delete":
        return this.#delete(action, control);
      case "release":
        return {
          kind: "done",
          action,
          object: await this.#requests.sendAll(action, endRequests(action), control),
        };
      case "fill":
      case "clear":
        return this.#fill(action, control);
      case "create":
      case "update":
      case "replace":
      case "adopt": {
        const payload = await this.#sourceData.payload(action.content.source);
        if (!payload) return { kind: "moved", action, ofSource: true };
        const recorded = action.kind === "update" ? await this.#recordOf(action, control) : "";
        if (recorded === undefined) return { kind: "moved", action };
        const requests = copyRequests(action, payload, recorded);
        if (action.kind === "replace") return this.#replace(action, requests, control);
        const object = await this.#requests.sendAll(action, requests, control);
        return { kind: "done", action, object };
      }
    }
  }

  /** The cache shows the place empty from the delete on, so that the next sync does not take the old copy for a new one. */
  async #replace(
    action: ReplaceAction,
    requests: readonly ObjectRequest[],
    control: WriteControl,
  ): Promise<Outcome> {
    const refusal = await rehearse(this.#requests, action, requests, control);
    if (refusal) return refusal;
    this.#deps.onReplace(action);
    let object: unknown;
    for (const request of requests) {
      object = await this.#requests.sendAll(action, [request], control);
      if (request.method === "DELETE")
        this.#deps.forget(action.objectKind, action.place, action.target.uid);
    }
    return { kind: "done", action, object };
  }

  /**
   * A client that rewrites a copy faster than the watch reports cannot prevent its deletion. The copy is read
   * live. While it is the same copy, it is deleted with the version that was read.
   */
  async #delete(action: Action & { kind: "delete" }, control: WriteControl): Promise<Outcome> {
    let target: CopyObject = action.target;
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.#requests.sendAll(
          action,
          endRequests({ ...action, target }),
          control,
        );
        return answer === undefined
          ? { kind: "removed", action, absent: true }
          : { kind: "removed", action };
      } catch (error) {
        const moved = error instanceof ApiError && error.kind === "conflict";
        if (!moved || tries === MOST_DELETES) throw error;
      }
      const raw = await this.#live.object(action.objectKind, action.place, control.signal);
      if (raw === undefined) return { kind: "removed", action, absent: true };
      const found = this.#deps.read(action.objectKind, raw);
      if (!isSameCopy(found, action.target)) {
        this.#deps.remember(action.objectKind, raw);
        return { kind: "moved", action };
      }
      target = found;
    }
  }

  /** The record of what was copied. Undefined if the copy has another version by now. */
  async #recordOf(action: Action & { kind: "update" }, control: WriteControl) {
    const { copiedKeys } = action.target.template;
    if (copiedKeys !== undefined) return copiedKeys;
    const raw = await this.#asJudged(action, control);
    return raw === undefined ? undefined : readRecord(raw);
  }

  /** The target as it is. Undefined if it is not in the version that the planner judged. */
  async #asJudged(
    { objectKind, place, target }: FillAction | (Action & { kind: "update" }),
    { signal }: WriteControl,
  ): Promise<unknown> {
    const raw = await this.#live.object(objectKind, place, signal);
    if (isVersion(raw, target)) return raw;
    if (raw !== undefined) this.#deps.remember(objectKind, raw);
    return undefined;
  }

  /** Only a live read shows what is to be written into a pulling Secret. */
  async #fill(action: FillAction, control: WriteControl): Promise<Outcome> {
    const { objectKind, target, decisionKey } = action;
    const source = action.kind === "fill" ? action.content.source : undefined;
    const payload = source && (await this.#sourceData.payload(source));
    const raw = source && !payload ? undefined : await this.#asJudged(action, control);
    if (raw === undefined) return { kind: "moved", action };
    const state = readPullState(KINDS[objectKind], raw);
    if (!source || !payload) {
      const request = fillRequest(action, emptyingFill(state));
      return { kind: "done", action, object: await this.#requests.send(action, request, control) };
    }
    const filling = fillFor(state, source, payload);
    const { uid, resourceVersion } = target;
    const result = { uid, resourceVersion, decisionKey };
    if ("code" in filling || !filling.fill) {
      const conflict = "code" in filling ? filling : undefined;
      return { kind: "resolved", action, pullResult: { ...result, conflict } };
    }
    const { fill, isRefill } = filling;
    const object = await this.#requests.send(action, fillRequest(action, fill), control);
    // A webhook may have changed what was written.
    const left = fillFor(readPullState(KINDS[objectKind], object), source, payload);
    if ("code" in left || left.fill || !isKubeObject(object))
      return { kind: "done", action, object, isRefill };
    const version = object.metadata.resourceVersion;
    const pullResult = { ...result, resourceVersion: version, conflict: undefined };
    return { kind: "done", action, object, pullResult, isRefill };
  }

  async #look(action: Action, control: WriteControl = {}): Promise<Outcome> {
    return {
      kind: "found",
      action,
      object: await this.#live.object(action.objectKind, action.place, control.signal),
    };
  }

  async #readLive(action: Action & { kind: "confirm" }): Promise<Outcome> {
    let noAnswer: LookupResult | undefined;
    for (const liveRead of action.liveReads) {
      const result = noAnswer ?? (await this.#live.lookUp(liveRead));
      this.#deps.onLiveRead(liveRead, result);
      // The other reads would wait as long, one after the other.
      if (result.kind === "unreadable" && result.unreachable) noAnswer = result;
    }
    return { kind: "answered", action };
  }

  async #outcomeOf(action: Action, error: unknown): Promise<Outcome> {
    if (error instanceof LeaseExpired) return { kind: "stopped", action };
    if (error instanceof DecisionChanged) return { kind: "moved", action, ofSource: true };
    if (error instanceof Terminating) return { kind: "leaving", action, object: error.object };
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

// Everything that the removal followed from is unchanged.
function isSameCopy(found: CachedObject | undefined, judged: CopyObject): found is CopyObject {
  return (
    found?.role === "copy" &&
    // Another client deletes it: that is not our delete.
    !found.deleting &&
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
