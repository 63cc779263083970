// Turns an action of the plan into a write of the pool. It adds the newest content when the write starts, and asks
// before each request whether its decision still holds. Promise: a write has the rule and value of one moment.
import type { PooledWrite } from "../flowcontrol/pooled-write.ts";
import type { WrittenCaches } from "./outcome.ts";
import { bytesOf } from "./object-requests.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import { copiesTo, hasSameRule, letsPull } from "../desired/same-decision.ts";
import type { DesiredCopy, Namespace, SourceObject } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { decisionKeyOf, type Action, actionKey } from "../model/actions.ts";

export type ActionWrite = PooledWrite & { readonly action: Action };

/** The current state. */
export type LatestView = {
  readonly caches: Pick<WrittenCaches, "of" | "namespace">;
  /** The source list's entry for an object. */
  readonly entryOf: (kind: ObjectKind, object: Ref) => ListEntry | undefined;
};

/**
 * Lets a source that changes all the time be written although the plan has an older version. The newest
 * content is used if it is as good for this write and the planned rule still applies.
 */
export function withLatest(action: Action, { caches, entryOf }: LatestView): Action {
  if (!("content" in action)) return action;
  const { source, desiredCopy } = action.content;
  const latest = caches.of(action.objectKind).get(source);
  if (latest === source || !hasSameRule(source, latest, entryOf(action.objectKind, source)))
    return action;
  if (!latest.desiredCopy || !isAsGood(latest.desiredCopy, desiredCopy)) return action;
  const content = { source: latest, desiredCopy: latest.desiredCopy };
  return { ...action, content, decisionKey: decisionKeyOf(content) };
}

// Content that grew more is written by the next plan, which applies the limits on bytes.
const MOST_GROWTH = 2;

function isAsGood(latest: DesiredCopy, planned: DesiredCopy): boolean {
  return (
    latest.type === planned.type &&
    latest.immutable === planned.immutable &&
    latest.bytes <= MOST_GROWTH * planned.bytes
  );
}

/** Whether the cache shows at the action's place what the plan saw there. */
export function isUntouched(action: Action, caches: LatestView["caches"]): boolean {
  if (action.kind === "confirm") return true;
  const present = caches.of(action.objectKind).get(action.place);
  if (!("target" in action)) return present === undefined;
  const { uid, resourceVersion } = action.target;
  return present?.uid === uid && present.resourceVersion === resourceVersion;
}

/** Whether source and Namespace, as the caches show them now, still ask for the action. */
export function stillHolds(action: Action, { caches, entryOf }: LatestView): boolean {
  if (action.kind === "confirm" || action.kind === "liveGet") return true;
  const { objectKind, place, source } = action;
  const namespace = caches.namespace(place.namespace);
  const latest = caches.of(objectKind).get(source);
  const entry = entryOf(objectKind, source);
  if (!namespace || namespace.terminating) return false;
  if ("content" in action)
    return (
      hasSameRule(action.content.source, latest, entry) && wantsPlace(action, latest, namespace)
    );
  if (namespace.accept.kind === "problem" && action.kind !== "clear") return false;
  if (latest?.role !== "source") return latest === undefined || entry === undefined;
  const isValid = latest.problems.length === 0 && !latest.deleting && latest.entry === entry;
  return isValid && !latest.rule.paused && !wantsPlace(action, latest, namespace);
}

function wantsPlace(action: Action, source: SourceObject, namespace: Namespace): boolean {
  return action.kind === "fill" || action.kind === "clear"
    ? letsPull(source, namespace)
    : copiesTo(source, action.place, namespace);
}

/** What the pool needs to know to limit an action. */
export function pooledWriteOf(action: Action): ActionWrite {
  const { objectKind, place } = action;
  const key = actionKey(action);
  if (action.kind === "confirm") return { key, reads: true, action };
  const reads = action.kind === "liveGet";
  const bytes = bytesOf(action);
  const source = placeKey(objectKind, action.source);
  return { key, namespace: place.namespace, source, bytes, reads, action };
}
