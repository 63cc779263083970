// What became of one action, and what is learned from it: the next sync starts from the whole cache,
// and all that it knows of earlier syncs is what these functions put into memory and cache.
import type { ApiErrorKind } from "../../kube/rest/api-error.ts";
import type { CauseWord } from "../../kube/rest/failure-cause.ts";
import type { PlannerMemory } from "../state/planner-memory.ts";
import { isWatched, KINDS, placeKey, type ObjectKind } from "../model/kinds.ts";
import type { CachedObject, Namespace } from "../model/cluster.ts";
import { shownUid, versionOf } from "../state/live-reads.ts";
import { objectOf, stringOf } from "../model/unstructured.ts";
import type { Resolution } from "../state/resolutions.ts";
import type { Ref } from "../../text/names.ts";
import { isCopying, type Action, type LiveRead } from "../model/actions.ts";

export type Outcome =
  /** Written; `object` is the raw object that the server answered with. */
  | {
      readonly kind: "done";
      readonly action: Action;
      readonly object: unknown;
      /** Of a pulling Secret that has what it is to have. */
      readonly resolution?: Resolution | undefined;
      /** Of a fill: it wrote only entries that were empty, so that nobody's value was undone. */
      readonly isRefill?: boolean;
    }
  /** Nothing was written: a pulling Secret has what it can have of its source. */
  | { readonly kind: "resolved"; readonly action: Action; readonly resolution: Resolution }
  /** Removed, or found removed: nothing of ours is at the place. */
  | { readonly kind: "removed"; readonly action: Action }
  /** The cluster state has changed since the plan: look again shortly. */
  | { readonly kind: "moved"; readonly action: Action; readonly ofSource?: boolean }
  /** A finalizer holds what was deleted: `object` is as it is now, on its way out. */
  | { readonly kind: "leaving"; readonly action: Action; readonly object: unknown }
  /** A live GET of a place where the cache shows none: `object` is who is there, undefined nobody. */
  | { readonly kind: "found"; readonly action: Action; readonly object: unknown }
  /** Questions were asked; each answer was reported as it came. */
  | { readonly kind: "answered"; readonly action: Action }
  /** Not tried, or cut off: this process may not write any more. */
  | { readonly kind: "stopped"; readonly action: Action }
  | {
      readonly kind: "failed";
      readonly action: Action;
      readonly error: ApiErrorKind;
      /** A word of the closed list of causes ... */
      readonly cause: CauseWord;
      /** ... and the cause in one line of identifiers, without the place. */
      readonly reason: string;
      readonly retryAfterMs: number | undefined;
    };

/** What the API server said of an object that something is to end because of. */
export type LookupResult =
  | { readonly kind: "found"; readonly object: unknown }
  | { readonly kind: "absent" }
  /** `silent`: others would not be answered either. */
  | { readonly kind: "unreadable"; readonly reason: string; readonly silent: boolean };

/** The cache of one kind of objects. */
export type WrittenCache = {
  get(place: Ref): CachedObject | undefined;
  /** Takes an object that a write returned or a GET found. */
  remember(raw: unknown): CachedObject | undefined;
  /** The same object, and takes nothing. */
  read(raw: unknown): CachedObject | undefined;
  forget(namespace: string, name: string, uid: string): void;
};

export type WrittenCaches = {
  of(kind: ObjectKind): WrittenCache;
  namespace(name: string): Namespace | undefined;
  rememberNamespace(raw: unknown): void;
  forgetNamespace(name: string, uid: string): void;
};

/** The cache of the source list. */
export type WrittenList = {
  remember(raw: unknown): void;
  forget(uid: string): void;
};

/** Where it goes; `now`: ms, monotonic; `random`: uniform in [0, 1). */
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
  switch (outcome.kind) {
    case "done":
      memory.succeeded(action, now, random, {
        altered: isAltered(action, cache.remember(outcome.object)),
        isRefill: outcome.isRefill === true,
      });
      // The successor exists, whatever a webhook made of it.
      if (isCopying(action))
        ofAll.shared.reservations.end({ kind: action.objectKind, place: action.place });
      if (outcome.resolution) memory.resolved(action.place, outcome.resolution);
      return;
    case "resolved":
      memory.resolved(action.place, outcome.resolution);
      return;
    case "removed":
      if (action.kind === "delete")
        cache.forget(action.place.namespace, action.place.name, action.target.uid);
      memory.succeeded(action, now, random);
      return;
    case "moved":
      memory.outdated(action, now, outcome.ofSource);
      return;
    case "leaving":
      cache.remember(outcome.object);
      memory.succeeded(action, now, random);
      return;
    case "found":
      // One of our own, which the watch has not shown yet: judged as what it is.
      if (cache.read(outcome.object)?.role === "copy") {
        cache.remember(outcome.object);
        memory.outdated(action, now);
        return;
      }
      if (outcome.object !== undefined) memory.uncached(action.place, now, random);
      else if (action.kind === "liveGet") memory.foundAbsent(action.place);
      // The server said both that it is taken and that it is free.
      else memory.outdated(action, now);
      return;
    case "failed":
      if (isTaken(outcome)) memory.uncached(action.place, now, random, outcome.reason);
      else memory.failed(action, outcome, now, random);
  }
}

// A webhook or a policy on the way made something else of it.
function isAltered(action: Action, written: CachedObject | undefined): boolean {
  if (!("content" in action) || action.kind === "fill" || written === undefined) return false;
  const { desiredCopy } = action.content;
  return written.role !== "copy" || written.fingerprint !== desiredCopy?.fingerprint;
}

// Somebody is there, and it could not be seen who.
function isTaken({ action: { kind }, error }: Extract<Outcome, { kind: "failed" }>): boolean {
  return (
    kind === "liveGet" || (error === "alreadyExists" && (kind === "create" || kind === "replace"))
  );
}

/** Where the objects of live reads go. The watch sends no event for them, so `onChange` reports each change of the cache. */
export type ReadObjects = {
  readonly caches: WrittenCaches;
  readonly onChange: (key: string, before: CachedObject | Namespace | undefined) => void;
};

export type LookupContext = RecordContext &
  ReadObjects & {
    /** The source list, where there is one. */
    readonly list?: WrittenList | undefined;
  };

export function recordLookup(
  question: LiveRead,
  answer: LookupResult,
  learning: LookupContext,
): void {
  const { memory, now, random } = learning;
  if (answer.kind === "found" && !isShown(question, answer.object)) {
    // Another object, of which the watch will say nothing: to the cache there is none.
    recordLookup(question, { kind: "absent" }, learning);
    return;
  }
  if (answer.kind === "unreadable") {
    memory.shared.liveReads.failed(
      question,
      `${nameOf(question)} cannot be read: ${answer.reason}`,
      now,
      random,
    );
    return;
  }
  if (answer.kind === "found") remember(question, answer.object, learning);
  else forget(question, learning);
  memory.shared.liveReads.answered(question, foundVersion(answer), now, random);
}

function isShown({ kind }: LiveRead, object: unknown): boolean {
  if (kind === "Namespace" || kind === "SourceList") return true;
  return isWatched(KINDS[kind], objectOf(object));
}

function foundVersion(answer: LookupResult): string {
  if (answer.kind !== "found") return versionOf(undefined);
  const { uid, resourceVersion } = objectOf(objectOf(answer.object).metadata);
  return versionOf({ uid: stringOf(uid), resourceVersion: stringOf(resourceVersion) });
}

function nameOf({ kind, ref }: LiveRead): string {
  const text = `${ref.namespace}/${ref.name}`;
  if (kind === "Namespace") return "the namespace";
  return kind === "SourceList" ? `the source list ${text}` : `source ${text}`;
}

function remember({ kind, ref }: LiveRead, object: unknown, context: LookupContext): void {
  const { list, caches } = context;
  if (kind === "SourceList") list?.remember(object);
  else if (kind !== "Namespace") rememberRead(kind, object, context);
  else showing(kind, ref, context, () => caches.rememberNamespace(object));
}

/** Takes an object that was read live into the cache. */
export function rememberRead(kind: ObjectKind, raw: unknown, context: ReadObjects): void {
  const { namespace, name } = objectOf(objectOf(raw).metadata);
  const ref = { namespace: stringOf(namespace), name: stringOf(name) };
  showing(kind, ref, context, () => void context.caches.of(kind).remember(raw));
}

// Reports the object if the cache shows another version of it after `change`.
function showing(
  kind: ObjectKind | "Namespace",
  ref: Ref,
  { caches, onChange }: ReadObjects,
  change: () => void,
): void {
  const shown = (): CachedObject | Namespace | undefined =>
    kind === "Namespace" ? caches.namespace(ref.namespace) : caches.of(kind).get(ref);
  const before = shown();
  change();
  if (shown() === before) return;
  onChange(kind === "Namespace" ? ref.namespace : placeKey(kind, ref), before);
}

function forget(question: LiveRead, context: LookupContext): void {
  const { kind, ref } = question;
  if (kind === "SourceList") forgetShown(question, context);
  else showing(kind, ref, context, () => forgetShown(question, context));
}

function forgetShown(question: LiveRead, { caches, memory, list, now }: LookupContext): void {
  const { kind, ref } = question;
  const uid = shownUid(question);
  if (uid === undefined) return;
  if (kind === "Namespace") {
    caches.forgetNamespace(ref.namespace, uid);
    return;
  }
  if (kind === "SourceList") {
    list?.forget(uid);
    return;
  }
  const cache = caches.of(kind);
  // The watch's word of it will be an echo of this.
  if (cache.get(ref)?.role === "source") memory.of(kind).gone.add(uid, now);
  cache.forget(ref.namespace, ref.name, uid);
}
