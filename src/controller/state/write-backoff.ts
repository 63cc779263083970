// What is remembered of single places between two plans: failed writes and when to try again, places
// taken by a Secret that the cache does not show, the time of the last write, and repairs that look
// like a fight. No clock: `now` is milliseconds of a monotonic clock, `random` is uniform in [0, 1).
// What no sync uses is forgotten, so memory grows only with the number of troubled places.
import { because } from "../model/reasons.ts";
import {
  backoffMs,
  readBackoffMs,
  throttledBackoffMs,
  type Failure,
  type PlaceBackoff,
} from "./backoff.ts";
import { EarlyTries } from "./early-tries.ts";
import { fightReason, Fights } from "./fights.ts";
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
/** Failures that recover by themselves: the API server had no room, or did not answer in time or at all. */
const TRANSIENT: ReadonlySet<string> = new Set(["throttled", "timeout", "unavailable"]);
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
  #backoffs = new Map<string, PlaceBackoff>();
  readonly #early = new EarlyTries();
  #uncached = new Map<string, Uncached>();
  /** When each place was last written or a write failed there. */
  readonly #written = new RecentTimes(WRITE_DISTANCE_MS);
  readonly #fights = new Fights();
  readonly #vanished = new Set<string>();
  #now = 0;
  /** Places that the running sync uses. */
  #used = new Set<string>();

  /** What keeps the write of `decisionKey` at `place` from being tried, if anything does. */
  placeBackoff(place: string, decisionKey: string): PlaceBackoff | undefined {
    const placeBackoff = this.#backoffs.get(place);
    if (!placeBackoff) return undefined;
    this.#used.add(place);
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
    if (uncached) this.#used.add(place);
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
    const before = this.#backoffs.get(place);
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const throttled = failure.error === "throttled";
    const attempts = failures + 1;
    const waitMs = throttled
      ? throttledBackoffMs(random, failure.retryAfterMs)
      : backoffMs(attempts, random);
    this.#written.touch(place, now);
    this.#set(place, decisionKey, now, waitMs, {
      kind: "failed",
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
    return this.#early.objectChanged(object, this.#backoffs.has(object));
  }

  /** A Namespace was changed: failed writes in it are tried sooner. */
  namespaceChanged(name: string): void {
    this.#early.namespaceChanged(name);
  }

  /** A failure may recover by itself: the next try may succeed. */
  get mayRecover(): boolean {
    for (const { error = "" } of this.#backoffs.values()) if (TRANSIENT.has(error)) return true;
    return false;
  }

  /** Writes that failed for want of an API server are due now, as if they had never been tried. */
  serverIsBack(): void {
    for (const [place, { error }] of this.#backoffs)
      if (error === "unavailable") {
        this.#backoffs.delete(place);
        this.#written.delete(place);
      }
  }

  /** `ofSource`: the source has moved, so other inputs are tried at once. */
  stale(place: string, decisionKey: string, now: number, ofSource = false): void {
    const before = this.#backoffs.get(place);
    const attempts =
      ofSource && before?.decisionKey !== decisionKey ? 1 : (before?.stales ?? 0) + 1;
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const waitMs = Math.min(
      LONGEST_STALE_RETRY_MS,
      STALE_RETRY_MS * STALE_GROWTH ** (attempts - 1),
    );
    const reason = because("CacheStale");
    const stale = { kind: "stale", attempts, reason, ofSource, stales: attempts } as const;
    this.#set(place, decisionKey, now, waitMs, { ...stale, failures });
  }

  #set(
    place: string,
    decisionKey: string,
    now: number,
    waitMs: number,
    rest: Omit<PlaceBackoff, "decisionKey" | "until" | "triedAt">,
  ): void {
    this.#backoffs.set(place, { ...rest, decisionKey, until: now + waitMs, triedAt: now });
    this.#used.add(place);
  }

  /** `unread`: why it could not be seen who is there. */
  uncached(place: string, now: number, random: number, unread?: string): void {
    const attempts = (this.#uncached.get(place)?.attempts ?? 0) + 1;
    const until = now + readBackoffMs(attempts, random);
    this.#uncached.set(place, { attempts, until, free: false, unread });
    this.#used.add(place);
  }

  foundAbsent(place: string): void {
    const uncached = this.#uncached.get(place);
    if (uncached) this.#uncached.set(place, { ...uncached, free: true });
  }

  written(place: string, now: number): void {
    this.#backoffs.delete(place);
    this.#uncached.delete(place);
    this.#vanished.delete(place);
    this.#written.touch(place, now);
  }

  /**
   * A write that undid what another client did to a copy. `certain`: or that was itself changed on its way.
   * Returns whether the fight is to be reported.
   */
  repaired(
    place: string,
    decisionKey: string,
    now: number,
    random: number,
    certain = false,
  ): boolean {
    const { level: attempts, isReported } = this.#fights.repaired(place, now, certain);
    if (attempts === 0) return isReported;
    const waitMs = backoffMs(attempts, random, FIRST_FIGHT_BACKOFF_MS);
    const reason = fightReason(certain);
    const fight = { kind: "fight", attempts, reason, stales: 0, failures: 0 } as const;
    this.#set(place, decisionKey, now, waitMs, fight);
    return isReported;
  }

  /** Somebody else deleted the copy that was at `place`. */
  vanished(place: string): void {
    this.#vanished.add(place);
  }

  hasVanished(place: string): boolean {
    if (!this.#vanished.has(place)) return false;
    this.#used.add(place);
    return true;
  }

  /** Whether refilling the place is a fight (fights.ts). */
  refilled(place: string, now: number): boolean {
    return this.#fights.refilled(place, now);
  }

  beginSync(now: number): void {
    this.#now = now;
    this.#used = new Set();
    for (const [place, write] of this.#early.due(this.#backoffs, now))
      this.#backoffs.set(place, write);
    this.#written.expire(now);
    this.#fights.expire(now);
  }

  /** Forgets what this sync did not use, except places in flight, which it does not plan. */
  endSync(inFlight: ReadonlySet<string>): void {
    for (const [place, { kind, until }] of this.#backoffs) {
      // Between our repair and the next change no sync uses it.
      if (kind === "fight" && until > this.#now) continue;
      this.#forget(this.#backoffs, place, inFlight);
    }
    this.#early.keep(this.#backoffs.values());
    for (const place of this.#uncached.keys()) this.#forget(this.#uncached, place, inFlight);
    for (const place of this.#vanished) this.#forget(this.#vanished, place, inFlight);
  }

  #forget(map: Pick<Set<string>, "delete">, place: string, inFlight: ReadonlySet<string>): void {
    if (!this.#used.has(place) && !inFlight.has(place)) map.delete(place);
  }
}
