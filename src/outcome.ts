// What became of one action, and what is learned from it: the next pass starts from the whole cache,
// and all that it knows of earlier passes is what these functions put into memory and cache.
import type { ApiErrorKind } from "./kube/api-error.ts";
import type { Memory } from "./core/memory.ts";
import type { Action, Confirm } from "./core/verdicts.ts";

export type Outcome =
  /** Written; `object` is the raw Secret that the server answered with. */
  | { readonly kind: "done"; readonly action: Action; readonly object: unknown }
  /** Removed, or found removed: nothing of ours is at the place. */
  | { readonly kind: "removed"; readonly action: Action }
  /** The world has moved since the plan: look again shortly. */
  | { readonly kind: "moved"; readonly action: Action }
  /** A live GET of a place where the cache shows none: `object` is who is there, undefined nobody. */
  | { readonly kind: "found"; readonly action: Action; readonly object: unknown }
  /** The source of a removal is there after all, or could not be asked for. */
  | { readonly kind: "unconfirmed"; readonly action: Action }
  /** Not tried, or cut off: this process may not write any more. */
  | { readonly kind: "stopped"; readonly action: Action }
  | {
      readonly kind: "failed";
      readonly action: Action;
      readonly error: ApiErrorKind;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    };

/** What the API server said of a source that the cache does not show. */
export type Absence =
  | { readonly kind: "gone" }
  | { readonly kind: "there" }
  | { readonly kind: "unreadable"; readonly reason: string };

export type Cache = {
  /** Takes an object that a write returned. */
  remember(raw: unknown): void;
  forget(namespace: string, name: string, uid: string): void;
};

/** Where it goes; `now`: ms, monotonic; `chance`: uniform in [0, 1). */
export type Learning = {
  readonly memory: Memory;
  readonly cache: Cache;
  readonly now: number;
  readonly chance: number;
};

export function learn(outcome: Outcome, { memory, cache, now, chance }: Learning): void {
  const { action } = outcome;
  switch (outcome.kind) {
    case "done":
      cache.remember(outcome.object);
      memory.succeeded(action, now, chance);
      return;
    case "removed":
      if (action.kind === "delete")
        cache.forget(action.place.namespace, action.place.name, action.target.uid);
      memory.succeeded(action, now, chance);
      return;
    case "moved":
      memory.outdated(action, now);
      return;
    case "found":
      if (outcome.object !== undefined) memory.hidden(action.place, now, chance);
      else if (action.kind === "look") memory.notHidden(action.place);
      // The server said both that it is taken and that it is free.
      else memory.outdated(action, now);
      return;
    case "unconfirmed":
    case "stopped":
      return;
    case "failed":
      memory.failed(action, outcome.message, now, chance);
  }
}

export function learnAbsence(
  asked: Confirm,
  answer: Absence,
  { memory, now, chance }: Omit<Learning, "cache">,
): void {
  switch (answer.kind) {
    case "gone":
      memory.confirmedGone(asked, now);
      return;
    case "there":
      memory.stillThere(asked);
      return;
    case "unreadable":
      memory.unreadable(asked, answer.reason, now, chance);
  }
}
