// The outcome of one action, and what is remembered of it. The next sync starts from the whole cache. Only
// these functions pass knowledge of earlier syncs to it, through memory and cache.
import type { ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import type { Cause } from "../../../packages/kube/rest/failure-cause.ts";
import type { PlannerMemory } from "../state/planner-memory.ts";
import { isWatched, KINDS, type ObjectKind } from "../model/kinds.ts";
import type { CachedObject, Namespace } from "../model/cluster.ts";
import { shownUid, versionOf } from "../state/live-reads.ts";
import { objectOf, stringOf } from "../model/unstructured.ts";
import type { PullResult } from "../state/planner-state.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Action, LiveRead } from "../model/actions.ts";

export type Outcome =
  /** Written. `object` is the raw object in the server's answer. */
  | {
      readonly kind: "done";
      readonly action: Action;
      readonly object: unknown;
      /** For a pulling Secret that has all its wanted entries. */
      readonly pullResult?: PullResult | undefined;
      /** For a fill that wrote only empty entries, so that it replaced no other client's value. */
      readonly isRefill?: boolean;
    }
  /** Nothing was written, because a pulling Secret has all that it can have from its source. */
  | { readonly kind: "resolved"; readonly action: Action; readonly pullResult: PullResult }
  /** No object of ours is at the place. `absent`: there was none before this request, as far as is known. */
  | { readonly kind: "removed"; readonly action: Action; readonly absent?: true }
  /** The cluster state has changed since the plan. Sync again shortly. */
  | { readonly kind: "moved"; readonly action: Action; readonly ofSource?: boolean }
  /** A finalizer holds the deleted object. `object` is its current state. */
  | { readonly kind: "leaving"; readonly action: Action; readonly object: unknown }
  /** A live GET of a place where the cache shows no object. `object` is the object there, if any. */
  | { readonly kind: "found"; readonly action: Action; readonly object: unknown }
  /** Live reads were made. Each result was reported at once. */
  | { readonly kind: "answered"; readonly action: Action }
  /** Not tried, or cut off, because this process may no longer write. */
  | { readonly kind: "stopped"; readonly action: Action }
  | {
      readonly kind: "failed";
      readonly action: Action;
      readonly error: ApiErrorKind;
      /** A value of the closed list of causes. */
      readonly cause: Cause;
      /** The cause in one line of identifiers, without the place. */
      readonly reason: string;
      readonly retryAfterMs: number | undefined;
    };

/** What a live read shows of an object that may cause a removal. */
export type LookupResult =
  | { readonly kind: "found"; readonly object: unknown }
  | { readonly kind: "absent" }
  /** `unreachable`: other live reads would not be answered either. */
  | { readonly kind: "unreadable"; readonly reason: string; readonly unreachable: boolean };

/** The cache of one kind of objects. */
export type WrittenCache = {
  get(place: Ref): CachedObject | undefined;
  /** Stores an object that a write returned or a GET found. */
  remember(raw: unknown): CachedObject | undefined;
  /** Returns the same object and stores nothing. */
  read(raw: unknown): CachedObject | undefined;
  forget(namespace: string, name: string, uid: string): void;
};

export type WrittenCaches = {
  of(kind: ObjectKind): WrittenCache;
  namespace(name: string): Namespace | undefined;
  rememberNamespace(raw: unknown): void;
  forgetNamespace(name: string, uid: string): void;
  /** A create was refused, perhaps because the namespace is being deleted. */
  namespaceRefused(name: string): void;
};

/** The cache of the source list. */
export type WrittenList = {
  remember(raw: unknown): void;
  forget(uid: string): void;
};

/** Where outcomes are recorded. `now` is in ms, monotonic. `random` is uniform in [0, 1). */
export type RecordContext = {
  readonly memory: PlannerMemory;
  readonly caches: WrittenCaches;
  readonly now: number;
  readonly random: number;
};

export function recordOutcome(
  outcome: Outcome,
  { memory: ofAll, caches, now, random }: RecordContext,
): void {
  if (outcome.kind === "answered" || outcome.kind === "stopped") return;
  const { action } = outcome;
  const [memory, cache] = [ofAll.of(action.objectKind), caches.of(action.objectKind)];
  const place = refText(action.place);
  const noteStale = (ofSource?: boolean): void =>
    memory.places.stale(place, action.decisionKey, now, ofSource);
  switch (outcome.kind) {
    case "done":
      memory.succeeded(action, now, random, {
        altered: isAltered(action, cache.remember(outcome.object)),
        isRefill: outcome.isRefill === true,
      });
      if (outcome.pullResult) memory.pullResults.note(place, outcome.pullResult);
      return;
    case "resolved":
      memory.pullResults.note(place, outcome.pullResult);
      return;
    case "removed":
      if (action.kind === "delete")
        cache.forget(action.place.namespace, action.place.name, action.target.uid);
      memory.succeeded(action, now, random);
      return;
    case "moved":
      if (action.kind === "create") caches.namespaceRefused(action.place.namespace);
      noteStale(outcome.ofSource);
      return;
    case "leaving":
      cache.remember(outcome.object);
      memory.succeeded(action, now, random);
      return;
    case "found":
      // A copy of our own that the watch has not shown yet. It is judged as a copy.
      if (cache.read(outcome.object)?.role === "copy") {
        cache.remember(outcome.object);
        noteStale();
        return;
      }
      if (outcome.object !== undefined) memory.places.uncached(place, now, random);
      else if (action.kind === "liveGet") memory.places.foundAbsent(place);
      // The server reported the place both as taken and as free.
      else noteStale();
      return;
    case "failed":
      if (isTaken(outcome)) memory.places.uncached(place, now, random, outcome.reason);
      else memory.failed(action, outcome, now, random);
  }
}

// A webhook or a policy altered what was written.
function isAltered(action: Action, written: CachedObject | undefined): boolean {
  if (!("content" in action) || action.kind === "fill" || written === undefined) return false;
  const { desiredCopy } = action.content;
  return written.role !== "copy" || written.template.fingerprint !== desiredCopy?.fingerprint;
}

// An object is at the place, but it could not be read.
function isTaken({ action: { kind }, error }: Extract<Outcome, { kind: "failed" }>): boolean {
  return (
    kind === "liveGet" || (error === "alreadyExists" && (kind === "create" || kind === "replace"))
  );
}

export type LookupContext = RecordContext & {
  /** The source list, if there is one. */
  readonly list?: WrittenList | undefined;
};

export function recordLookup(
  liveRead: LiveRead,
  result: LookupResult,
  context: LookupContext,
): void {
  const { memory, now, random } = context;
  if (result.kind === "found" && !isShown(liveRead, result.object)) {
    // The watch does not show this object, so the cache treats it as absent.
    recordLookup(liveRead, { kind: "absent" }, context);
    return;
  }
  if (result.kind === "unreadable") {
    memory.shared.liveReads.failed(
      liveRead,
      `${nameOf(liveRead)} cannot be read: ${result.reason}`,
      now,
      random,
    );
    return;
  }
  if (result.kind === "found") remember(liveRead, result.object, context);
  else forget(liveRead, context);
  memory.shared.liveReads.found(liveRead, foundVersion(result), now, random);
}

function isShown({ kind }: LiveRead, object: unknown): boolean {
  if (kind === "Namespace" || kind === "SourceList") return true;
  return isWatched(KINDS[kind], objectOf(object));
}

function foundVersion(result: LookupResult): string {
  if (result.kind !== "found") return versionOf(undefined);
  const { uid, resourceVersion } = objectOf(objectOf(result.object).metadata);
  return versionOf({ uid: stringOf(uid), resourceVersion: stringOf(resourceVersion) });
}

function nameOf({ kind, ref }: LiveRead): string {
  const text = `${ref.namespace}/${ref.name}`;
  if (kind === "Namespace") return "the namespace";
  return kind === "SourceList" ? `the source list ${text}` : `source ${text}`;
}

function remember({ kind }: LiveRead, object: unknown, { list, caches }: LookupContext): void {
  if (kind === "SourceList") list?.remember(object);
  else if (kind === "Namespace") caches.rememberNamespace(object);
  else caches.of(kind).remember(object);
}

function forget(liveRead: LiveRead, { caches, list }: LookupContext): void {
  const { kind, ref } = liveRead;
  const uid = shownUid(liveRead);
  if (uid === undefined) return;
  if (kind === "Namespace") {
    caches.forgetNamespace(ref.namespace, uid);
    return;
  }
  if (kind === "SourceList") {
    list?.forget(uid);
    return;
  }
  // The watch will report this deletion again.
  caches.of(kind).forget(ref.namespace, ref.name, uid);
}
