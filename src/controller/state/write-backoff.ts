// What is remembered of single places between two plans: failed writes and when to try again, places
// taken by a Secret that the cache does not show, the time of the last write, and repairs that look
// like a fight. No clock: `now` is milliseconds of a monotonic clock, `random` is uniform in [0, 1).
// What no sync asks for is forgotten, so memory grows only with the number of troubled places.
import { because, type Reason } from "../model/reasons.ts";
import { backoffMs, readBackoffMs, throttledBackoffMs } from "./backoff.ts";
import { EarlyTries } from "./early-tries.ts";
import { FIGHT_REPAIRS, Fights } from "./fights.ts";
import { RecentTimes } from "./recent-times.ts";

/**
 * After a 409: the cache is about to catch up, so this is not a failure. The wait grows while the cache
 * is behind: each attempt at a copy that is rewritten all the time is up to three requests.
 */
const STALE_RETRY_MS = 100;
const STALE_GROWTH = 3;
const LONGEST_STALE_RETRY_MS = 5000;
/** A flapping source costs at most one write a place in this time. */
const WRITE_DISTANCE_MS = 1000;

const FIRST_FIGHT_BACKOFF_MS = 30_000;
/** Failures that pass by themselves: the API server had no room, gave no answer in time, or none at all. */
const PASSING: ReadonlySet<string> = new Set(["throttled", "timeout", "unavailable"]);
/** Why a write failed. */
export type Failure = {
  /** One line without a value of a Secret and without the place, so that places of one cause are one group. */
  readonly reason: string;
  /** A value of a closed list for the reason. */
  readonly cause: string;
  /**
   * The kind of failure. "unavailable": no API server answered, or it answered 5xx. "throttled": it
   * had no room for the request, which says nothing of the place.
   */
  readonly error: string;
  /** For how long the server asked to be left alone with it, in ms. */
  readonly retryAfterMs?: number | undefined;
};
export type PlaceBackoff = {
  readonly kind: "failed" | "stale" | "fight";
  readonly decisionKey: string;
  readonly until: number;
  /** When a write was last tried. */
  readonly triedAt: number;
  /** Attempts of the same kind. */
  readonly attempts: number;
  readonly reason: Reason;
  /** With a failure. */
  readonly cause?: string;
  /** With a failure: its kind. */
  readonly error?: string;
  /** It was the source that had moved, and not what is at the place. */
  readonly ofSource?: boolean;
  /** How often in a row the cluster state had moved. A failure in between does not reset it. */
  readonly stales: number;
  readonly failures: number;
  /** With a failure: its source, as "NAMESPACE/NAME". */
  readonly source?: string;
  /** With a failure: when a user last ended its wait. */
  readonly earlyAt?: number | undefined;
};

export type Uncached = {
  readonly until: number;
  readonly attempts: number;
  /** The last look found nothing there. The next object found there is not looked at without a pause. */
  readonly free: boolean;
  /** Why the last look failed. */
  readonly unread: string | undefined;
};

/** Whether a write of these inputs takes a copy away. */
function isEnding(decisionKey: string): boolean {
  return decisionKey.startsWith("delete ") || decisionKey.startsWith("release ");
}

export class WriteBackoff {
  #troubles = new Map<string, PlaceBackoff>();
  readonly #early = new EarlyTries();
  #uncached = new Map<string, Uncached>();
  /** When each place was last written or a write failed there. */
  readonly #written = new RecentTimes(WRITE_DISTANCE_MS);
  readonly #fights = new Fights();
  readonly #vanished = new Set<string>();
  #now = 0;
  /** Places that the sync now running has asked for. */
  #asked = new Set<string>();

  /** What keeps the write of `decisionKey` at `place` from being tried, if anything does. */
  placeBackoff(place: string, decisionKey: string): PlaceBackoff | undefined {
    const placeBackoff = this.#troubles.get(place);
    if (!placeBackoff) return undefined;
    this.#asked.add(place);
    // A cache that is behind is so whatever is to be written, and a copy that is made anew after each
    // deletion may name another source each time.
    const always =
      (placeBackoff.kind === "stale" && placeBackoff.ofSource !== true) ||
      (placeBackoff.kind === "fight" &&
        isEnding(placeBackoff.decisionKey) &&
        isEnding(decisionKey));
    return placeBackoff.decisionKey === decisionKey || always ? placeBackoff : undefined;
  }

  /** A place that is taken although the cache shows it empty, and when to look at it again. */
  uncachedAt(place: string): Uncached | undefined {
    const uncached = this.#uncached.get(place);
    if (uncached) this.#asked.add(place);
    return uncached?.free ? undefined : uncached;
  }

  /** Earliest time of the next write at `place`, or undefined: any. */
  nextWriteAt(place: string, now: number): number | undefined {
    const written = this.#written.at(place, now);
    return written === undefined ? undefined : written + WRITE_DISTANCE_MS;
  }

  /** `source`: as "NAMESPACE/NAME". */
  failed(
    place: string,
    decisionKey: string,
    failure: Failure,
    now: number,
    random: number,
    source = "",
  ): void {
    const before = this.#troubles.get(place);
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const throttled = failure.error === "throttled";
    const attempts = failures + 1;
    const waitMs = throttled
      ? throttledBackoffMs(random, failure.retryAfterMs)
      : backoffMs(attempts, random);
    this.#written.touch(place, now);
    this.#set(place, {
      kind: "failed",
      decisionKey,
      until: now + waitMs,
      triedAt: now,
      attempts,
      reason: because("WriteFailed", { error: failure.reason }),
      cause: failure.cause,
      error: failure.error,
      stales: before?.stales ?? 0,
      // A refusal for want of room says nothing of the place, so later failures do not wait longer for it.
      failures: throttled ? failures : attempts,
      source: this.#early.failed(source),
      earlyAt: before?.earlyAt,
    });
  }

  /** An object ("NAMESPACE/NAME") was changed. Whether a failed write is tried sooner for it. */
  objectChanged(object: string): boolean {
    return this.#early.objectChanged(object, this.#troubles.has(object));
  }

  /** A Namespace was changed: failed writes in it are tried sooner. */
  namespaceChanged(name: string): void {
    this.#early.namespaceChanged(name);
  }

  /** Failed writes, except throttled ones: those wait as long as the API server asked. */
  *#failures(): Generator<
    readonly [string, PlaceBackoff & { source: string; earlyAt: number | undefined }]
  > {
    for (const [place, placeBackoff] of this.#troubles) {
      const { kind, error, source, earlyAt } = placeBackoff;
      if (kind !== "failed" || error === "throttled" || source === undefined) continue;
      yield [place, { ...placeBackoff, source, earlyAt }];
    }
  }

  /** What failed a write passes by itself: its next try may be taken. */
  get mayPass(): boolean {
    for (const { error = "" } of this.#troubles.values()) if (PASSING.has(error)) return true;
    return false;
  }

  /** Writes that failed for want of an API server are due now, as if they had never been tried. */
  serverIsBack(): void {
    for (const [place, { error }] of this.#troubles)
      if (error === "unavailable") {
        this.#troubles.delete(place);
        this.#written.delete(place);
      }
  }

  /** `ofSource`: the source has moved, so other inputs are tried at once. */
  stale(place: string, decisionKey: string, now: number, ofSource = false): void {
    const before = this.#troubles.get(place);
    const attempts =
      ofSource && before?.decisionKey !== decisionKey ? 1 : (before?.stales ?? 0) + 1;
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const waitMs = Math.min(
      LONGEST_STALE_RETRY_MS,
      STALE_RETRY_MS * STALE_GROWTH ** (attempts - 1),
    );
    const reason = because("CacheStale");
    const until = now + waitMs;
    this.#set(place, {
      kind: "stale",
      decisionKey,
      until,
      triedAt: now,
      attempts,
      reason,
      ofSource,
      stales: attempts,
      failures,
    });
  }

  #set(place: string, placeBackoff: PlaceBackoff): void {
    this.#troubles.set(place, placeBackoff);
    this.#asked.add(place);
  }

  /** `unread`: why it could not be seen who is there. */
  uncached(place: string, now: number, random: number, unread?: string): void {
    const attempts = (this.#uncached.get(place)?.attempts ?? 0) + 1;
    const until = now + readBackoffMs(attempts, random);
    this.#uncached.set(place, { attempts, until, free: false, unread });
    this.#asked.add(place);
  }

  foundAbsent(place: string): void {
    const uncached = this.#uncached.get(place);
    if (uncached) this.#uncached.set(place, { ...uncached, free: true });
  }

  written(place: string, now: number): void {
    this.#troubles.delete(place);
    this.#uncached.delete(place);
    this.#vanished.delete(place);
    this.#written.touch(place, now);
  }

  /**
   * A write that undid what another client did to a copy. `certain`: or that was itself changed on its way.
   * Returns true if from now on this place is a fight.
   */
  repaired(
    place: string,
    decisionKey: string,
    now: number,
    random: number,
    certain = false,
  ): boolean {
    const attempts = this.#fights.repaired(place, now, certain);
    if (attempts === 0) return false;
    this.#set(place, {
      kind: "fight",
      decisionKey,
      until: now + backoffMs(attempts, random, FIRST_FIGHT_BACKOFF_MS),
      triedAt: now,
      attempts,
      reason: certain
        ? because("ChangedByWebhook")
        : because("ChangedRepeatedly", { repairs: FIGHT_REPAIRS }),
      stales: 0,
      failures: 0,
    });
    return attempts === 1;
  }

  /** Somebody else deleted the copy that was at `place`. */
  vanished(place: string): void {
    this.#vanished.add(place);
  }

  hasVanished(place: string): boolean {
    if (!this.#vanished.has(place)) return false;
    this.#asked.add(place);
    return true;
  }

  /** Whether refilling the place is a fight (fights.ts). */
  refilled(place: string, now: number): boolean {
    return this.#fights.refilled(place, now);
  }

  beginPass(now: number): void {
    this.#now = now;
    this.#asked = new Set();
    for (const [place, write] of this.#early.due(this.#failures(), now))
      this.#troubles.set(place, write);
    this.#written.expire(now);
    this.#fights.expire(now);
  }

  /** Forgets what this sync did not ask for, except places in flight, for which it does not ask. */
  endPass(inFlight: ReadonlySet<string>): void {
    for (const [place, { kind, until }] of this.#troubles) {
      // Between our repair and the next change a sync finds nothing to ask for.
      if (kind === "fight" && until > this.#now) continue;
      this.#forget(this.#troubles, place, inFlight);
    }
    this.#early.keep(this.#failingSources());
    for (const place of this.#uncached.keys()) this.#forget(this.#uncached, place, inFlight);
    for (const place of this.#vanished)
      if (!this.#asked.has(place) && !inFlight.has(place)) this.#vanished.delete(place);
  }

  *#failingSources(): Generator<string> {
    for (const { source } of this.#troubles.values()) if (source !== undefined) yield source;
  }

  #forget(map: Map<string, unknown>, place: string, inFlight: ReadonlySet<string>): void {
    if (!this.#asked.has(place) && !inFlight.has(place)) map.delete(place);
  }
}
