// Turns an action of the plan into a write of the pool. It adds the newest content when the write starts, and
// checks after an event whether its decision still holds. Promise: a write has the rule and value of one moment.
import type { PooledWrite } from "../../kube/flowcontrol/pooled-write.ts";
import type { WrittenCaches } from "./outcome.ts";
import { bytesOf } from "../plan/requests.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import { copiesTo, decidesAlike, hasSameRule, letsPull } from "../desired/same-decision.ts";
import type { CachedObject, DesiredCopy, Namespace, SourceObject } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { decisionKeyOf, type Action, actionKey, isEnding } from "../model/actions.ts";

export type ActionWrite = PooledWrite & { readonly action: Action };

/** The state of objects and Namespaces before the events since planning began, by key. */
export type Touched = ReadonlyMap<string, CachedObject | Namespace | undefined>;

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

/** Whether the decision behind the action is unchanged after these events of its source or namespace. */
export function isStillDecided(
  { action, namespace = "", source = "" }: ActionWrite,
  touched: Touched,
  { caches, entryOf }: LatestView,
): boolean {
  const { objectKind } = action;
  const latest = caches.of(objectKind).get(action.source);
  const entry = entryOf(objectKind, action.source);
  if (touched.has(source)) {
    // A removal contains no source. It follows from what the cache showed.
    const before = "content" in action ? action.content.source : touched.get(source);
    if (!before || !("role" in before) || !saysTheSame(before, latest, entry)) return false;
  }
  const publisher = latest?.role === "source" ? latest : undefined;
  const now = caches.namespace(namespace);
  if (touched.has(namespace)) {
    const before = touched.get(namespace);
    if (!before || "role" in before || !now) return false;
    if (!decidesAlike(publisher?.rule, before, now)) return false;
  }
  // The plan may have seen a state between two events.
  const wanted = publisher !== undefined && now !== undefined && wantsPlace(action, publisher, now);
  if (isEnding(action)) return !wanted;
  return wanted || action.kind === "liveGet";
}

function wantsPlace(action: Action, source: SourceObject, namespace: Namespace): boolean {
  return action.kind === "fill" || action.kind === "clear"
    ? letsPull(source, namespace)
    : copiesTo(source, action.place, namespace);
}

function saysTheSame(
  before: CachedObject,
  latest: CachedObject | undefined,
  entry: ListEntry | undefined,
): boolean {
  if (before.role === "source") return hasSameRule(before, latest, entry);
  const neverSource =
    before.role === "unmanaged" && latest?.role === "unmanaged" && entry === undefined;
  return neverSource && before.uid === latest.uid;
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
