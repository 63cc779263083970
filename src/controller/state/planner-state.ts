// What is remembered of one kind beside the plan, as long as the process lives: it is never
// written anywhere and a controller that starts anew starts without it. plan() reads it and notes in
// it since when something has been so. apply reports the result of each action to it.
// Every `now` is milliseconds of a monotonic clock, every `random` uniform in [0, 1).
import { FirstSeen } from "./first-seen.ts";
import { KeptWhileUsed } from "./kept-while-used.ts";
import type { Failure } from "./backoff.ts";
import { PlaceMemory } from "./place-memory.ts";
import { UnwantedPlaces } from "./unwanted-places.ts";
import { LiveReads } from "./live-reads.ts";
import { Reservations } from "./reservations.ts";
import type {
  CopyObject,
  DesiredCopy,
  Namespace,
  PlannerSettings,
  PullingObject,
} from "../model/cluster.ts";
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { GlobList } from "../../text/globs.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Action } from "../model/actions.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Reason } from "../model/reasons.ts";

/** A positive entry of a flag that lists namespaces. */
export type FlagEntry = {
  /** As the administrator wrote it. */
  readonly text: string;
  readonly list: GlobList;
  /** A namespace that it matched at the last search. */
  lastMatch: string | undefined;
};

/**
 * What all kinds share: the live reads, since when writes have been due, and what follows from namespaces and flags
 * alone. Each key contains its kind.
 */
export class SharedState {
  readonly liveReads = new LiveReads();
  readonly reservations = new Reservations();
  /** Since when the write of each place has been due. */
  readonly dueSince = new FirstSeen();
  /** When the first sync began: what it found may have been so before. */
  beganAt: number | undefined;
  /** The entries of the last plan's settings. */
  flags: { readonly of: PlannerSettings; readonly entries: readonly FlagEntry[] } | undefined;

  beginSync(now: number): void {
    this.beganAt ??= now;
    this.dueSince.beginSync();
    this.liveReads.beginSync(now);
  }

  endSync(): void {
    this.liveReads.endSync();
  }
}

export type Fight = {
  readonly kind: ObjectKind;
  readonly place: Ref;
  readonly source: Ref;
  /** A webhook or a policy changes what is written before it is stored. Otherwise it is changed afterwards. */
  readonly altered: boolean;
  /** The place is a pulling object. */
  readonly pulling: boolean;
};

export type RememberedConsent = {
  readonly rule: NamespaceMatch;
  readonly namespace: Namespace;
  readonly allows: boolean;
};

/** What a live look at a pulling Secret showed, for one version of it and of what it is filled with. */
export type PullResult = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** As Action.decisionKey. */
  readonly decisionKey: string;
  /** Why it does not have all that the source gives, or undefined if it has. */
  readonly conflict: Reason | undefined;
};

export class PlannerState {
  /** What this kind shares with the others. */
  readonly shared: SharedState;
  readonly places = new PlaceMemory();
  readonly unwantedPlaces = new UnwantedPlaces();
  /** Since when each row and report has been so, to a tenth of a second. */
  readonly reportedSince = new FirstSeen(100);
  readonly pullResults = new KeptWhileUsed<PullResult>();
  /** Decision keys of the last fills. A record of a fill may have been removed since. */
  readonly lastFills = new KeptWhileUsed<string>();
  /** Whether a source consents to what names it, for as long as both objects live. */
  readonly consents = new WeakMap<PullingObject | CopyObject, RememberedConsent>();
  /** The digest of what a version of a source offers to the keys of a pulling Secret. */
  readonly pullableDigests = new WeakMap<
    PullingObject,
    { readonly desiredCopy: DesiredCopy; readonly digest: string }
  >();
  /** By a source's UID, the fingerprint that all its copies had when a sync last found them so. */
  currentFingerprints: ReadonlyMap<string, string> = new Map();
  readonly #fights = new Map<string, Fight>();

  constructor(shared: SharedState) {
    this.shared = shared;
  }

  /**
   * The write was made. `altered`: what is there now is not what it wrote. `isRefill`: it wrote only
   * entries that were empty, which a manifest must contain for some types: nothing was in dispute.
   */
  succeeded(
    action: Action,
    now: number,
    random: number,
    { altered = false, isRefill = false }: { altered?: boolean; isRefill?: boolean } = {},
  ): void {
    const place = refText(action.place);
    if (action.kind === "liveGet" || action.kind === "confirm") return;
    this.places.written(place, now);
    switch (action.kind) {
      case "delete":
      case "release":
        // A client that recreates a copy after each deletion keeps us deleting.
        this.places.repaired(place, action.decisionKey, now, random);
        return;
      case "clear":
        return;
      case "create":
      case "update":
      case "replace":
      case "adopt":
        this.#repaired(action, place, now, random, altered);
        return;
      case "fill":
        this.lastFills.note(place, action.decisionKey);
        if (altered || !isRefill || this.places.refilled(place, now))
          this.#repaired(action, place, now, random, altered);
    }
  }

  #repaired(action: Action, place: string, now: number, random: number, altered: boolean): void {
    if (!altered && action.cause !== "edited" && action.cause !== "deleted") return;
    if (this.places.repaired(place, action.decisionKey, now, random, altered)) {
      const { objectKind: kind, source, place: where } = action;
      const pulling = action.kind === "fill";
      this.#fights.set(place, { kind, place: where, source, altered, pulling });
    }
  }

  failed(action: Action, failure: Failure, now: number, random: number): void {
    const [place, source] = [refText(action.place), refText(action.source)];
    this.places.failed(place, action.decisionKey, failure, now, random, source);
  }

  /** Fights since the last call. */
  takeFights(): readonly Fight[] {
    const fights = [...this.#fights.values()];
    this.#fights.clear();
    return fights;
  }

  beginSync(now: number): void {
    this.places.beginSync(now);
    this.reportedSince.beginSync();
    this.pullResults.beginSync();
    this.lastFills.beginSync();
  }

  endSync(inFlight: ReadonlySet<string>): void {
    this.places.endSync(inFlight);
  }
}
