// What is remembered of each place between two plans: why a write waits, what the cache does not show, when it was
// last written, and how often it was repaired. No clock: `now` is milliseconds of a monotonic clock, `random` is
// uniform in [0, 1). Promises: what no sync uses is forgotten, so memory grows only with the places that are in
// trouble or were written just now. A changed object ends the wait of its failed writes at most once in ten seconds.
import { because, type Reason } from "../model/reasons.ts";
import {
  backoffMs,
  readBackoffMs,
  throttledBackoffMs,
  type Failure,
  type PlaceBackoff,
} from "./backoff.ts";

/**
 * After a 409: the cache is about to catch up, so this is not a failure. The wait grows while the cache
 * is behind: each attempt at a copy that is rewritten all the time is up to three requests.
 */
const STALE_RETRY_MS = 100;
const STALE_GROWTH = 3;
const LONGEST_STALE_RETRY_MS = 5000;
/** A flapping source costs at most one write a place in this time. */
const WRITE_DISTANCE_MS = 1000;
/** A user ends the wait of a failed write at most this often. */
const EARLY_DISTANCE_MS = 10_000;
/** Failures that recover by themselves: the API server had no room, or did not answer in time or at all. */
const TRANSIENT: ReadonlySet<string> = new Set(["throttled", "timeout", "unavailable"]);

const FIRST_FIGHT_BACKOFF_MS = 30_000;
/** No GitOps tool applies more often: Flux and Argo CD take ten seconds at least. */
const REFILL_DISTANCE_MS = 5000;
/** More repairs than this within a minute are made less often. */
const MOST_REPAIRS_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** So many repairs within the time are reported, at whatever pace. */
const REPORTED_REPAIRS = 3;
/** A fight is reported until nobody has undone a repair for this long. */
export const FIGHT_OVER_MS = 60 * 60_000;
/** Afterwards repairs are made at once again. */
const CALM_MS = 10 * 60_000;

export type Uncached = {
  readonly until: number;
  readonly attempts: number;
  /** The last look found nothing there. The next object found there is not looked at without a pause. */
  readonly free: boolean;
  /** Why the last look failed. */
  readonly unread: string | undefined;
};

type RememberedPlace = {
  backoff?: PlaceBackoff | undefined;
  /** The place is taken although the cache shows it empty. */
  uncached?: Uncached | undefined;
  /** Another client deleted the copy that was there. */
  vanished?: boolean;
  /** When it was written, or a write failed there. */
  writtenAt?: number | undefined;
  /** When entries of a pulling Secret were filled again after a manifest had emptied them. */
  refilledAt?: number | undefined;
  /** The times of the last few repairs within the hour. */
  repairs?: readonly number[] | undefined;
  /** How often in a row a repair was one of too many. */
  fightLevel?: number;
  /** The sync that last asked for it. */
  usedIn: number;
};

/** `altered`: a webhook or a policy changes what is written before it is stored. */
export function fightReason(altered: boolean): Reason {
  return because(altered ? "ChangedByWebhook" : "ChangedRepeatedly");
}

/** Whether a write of these inputs takes a copy away. */
function isEnding(decisionKey: string): boolean {
  return decisionKey.startsWith("delete ") || decisionKey.startsWith("release ");
}

export class PlaceMemory {
  readonly #places = new Map<string, RememberedPlace>();
  /** Sources of failed writes: an index of the places, each text in memory once. */
  #failingSources = new Map<string, string>();
  /** Failing sources, objects at failing places, and namespaces that were changed since the last plan began. */
  readonly #changed = new Set<string>();
  #sync = 0;
  #now = 0;

  /** What keeps the write of `decisionKey` at `place` from being tried, if anything does. */
  placeBackoff(place: string, decisionKey: string): PlaceBackoff | undefined {
    const backoff = this.#used(place)?.backoff;
    if (!backoff) return undefined;
    // A cache that is behind is so whatever is to be written, and a copy that is made anew after each
    // deletion may name another source each time.
    const always =
      (backoff.kind === "stale" && backoff.ofSource !== true) ||
      (backoff.kind === "fight" && isEnding(backoff.decisionKey) && isEnding(decisionKey));
    return backoff.decisionKey === decisionKey || always ? backoff : undefined;
  }

  /** A place that is taken although the cache shows it empty, and when to look at it again. */
  uncachedAt(place: string): Uncached | undefined {
    const uncached = this.#used(place)?.uncached;
    return uncached?.free ? undefined : uncached;
  }

  /** Earliest time of the next write at `place`, or undefined: any. */
  nextWriteAt(place: string, now: number): number | undefined {
    const { writtenAt = Number.NEGATIVE_INFINITY } = this.#places.get(place) ?? {};
    return now - writtenAt < WRITE_DISTANCE_MS ? writtenAt + WRITE_DISTANCE_MS : undefined;
  }

  hasVanished(place: string): boolean {
    return this.#used(place)?.vanished ?? false;
  }

  /** A failure may recover by itself: the next try may succeed. */
  get mayRecover(): boolean {
    for (const { backoff } of this.#places.values())
      if (TRANSIENT.has(backoff?.error ?? "")) return true;
    return false;
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
    const before = this.#places.get(place)?.backoff;
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const throttled = failure.error === "throttled";
    const attempts = failures + 1;
    const waitMs = throttled
      ? throttledBackoffMs(random, failure.retryAfterMs)
      : backoffMs(attempts, random);
    const known = this.#failingSources.get(source) ?? source;
    this.#failingSources.set(known, known);
    const remembered = this.#wait(place, decisionKey, now, waitMs, {
      kind: "failed",
      attempts,
      reason: because("WriteFailed", { error: failure.reason }),
      cause: failure.cause,
      error: failure.error,
      stales: before?.stales ?? 0,
      // A refusal for want of room says nothing of the place, so later failures do not wait longer for it.
      failures: throttled ? failures : attempts,
      source: known,
      earlyAt: before?.earlyAt,
    });
    remembered.writtenAt = now;
  }

  /**
   * The write met a 409 (version, UID) or a 404: the cluster state has changed, which is not a failure. `ofSource`: the
   * source has moved, so other inputs are tried at once.
   */
  stale(place: string, decisionKey: string, now: number, ofSource = false): void {
    const before = this.#places.get(place)?.backoff;
    const attempts =
      ofSource && before?.decisionKey !== decisionKey ? 1 : (before?.stales ?? 0) + 1;
    const failures = before?.decisionKey === decisionKey ? before.failures : 0;
    const waitMs = Math.min(
      LONGEST_STALE_RETRY_MS,
      STALE_RETRY_MS * STALE_GROWTH ** (attempts - 1),
    );
    const reason = because("CacheStale");
    const stale = { kind: "stale", attempts, reason, ofSource, stales: attempts } as const;
    this.#wait(place, decisionKey, now, waitMs, { ...stale, failures });
  }

  /** An object is at a place that the cache shows empty. `unread`: why a live GET did not say whose. */
  uncached(place: string, now: number, random: number, unread?: string): void {
    const remembered = this.#remember(place);
    const attempts = (remembered.uncached?.attempts ?? 0) + 1;
    remembered.uncached = {
      attempts,
      until: now + readBackoffMs(attempts, random),
      free: false,
      unread,
    };
  }

  /** A live GET found no object there. */
  foundAbsent(place: string): void {
    const remembered = this.#places.get(place);
    if (remembered?.uncached) remembered.uncached = { ...remembered.uncached, free: true };
  }

  /** Another client deleted the copy that was at `place`. */
  vanished(place: string): void {
    this.#remember(place).vanished = true;
  }

  written(place: string, now: number): void {
    const remembered = this.#remember(place);
    remembered.backoff = undefined;
    remembered.uncached = undefined;
    remembered.vanished = false;
    remembered.writtenAt = now;
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
    const remembered = this.#remember(place);
    const { repairs: before = [], fightLevel = 0 } = remembered;
    const reached = now - (before.at(-1) ?? Number.NEGATIVE_INFINITY) > CALM_MS ? 0 : fightLevel;
    const repairs = [...before.filter((time) => now - time < FIGHT_OVER_MS), now];
    const inMinute = repairs.filter((time) => now - time < MINUTE_MS).length;
    const isFast = certain || reached > 0 || inMinute > MOST_REPAIRS_A_MINUTE;
    const attempts = isFast ? reached + 1 : 0;
    remembered.repairs = repairs.slice(-MOST_REPAIRS_A_MINUTE);
    remembered.fightLevel = attempts;
    if (!isFast) return repairs.length >= REPORTED_REPAIRS;
    const waitMs = backoffMs(attempts, random, FIRST_FIGHT_BACKOFF_MS);
    const reason = fightReason(certain);
    const fight = { kind: "fight", attempts, reason, stales: 0, failures: 0 } as const;
    this.#wait(place, decisionKey, now, waitMs, fight);
    // Plans show the place while its next repair waits.
    return attempts === 1;
  }

  /**
   * Entries of a pulling Secret were filled again after a manifest had emptied them. True: that was so less than
   * five seconds ago as well. A GitOps tool takes longer from one apply to the next, so this is a fight.
   */
  refilled(place: string, now: number): boolean {
    const remembered = this.#remember(place);
    const { refilledAt = Number.NEGATIVE_INFINITY } = remembered;
    remembered.refilledAt = now;
    return now - refilledAt < REFILL_DISTANCE_MS;
  }

  /** Writes that failed for want of an API server are due now, as if they had never been tried. */
  serverIsBack(): void {
    for (const remembered of this.#places.values())
      if (remembered.backoff?.error === "unavailable") {
        remembered.backoff = undefined;
        remembered.writtenAt = undefined;
      }
  }

  /** An object ("NAMESPACE/NAME") was changed. Whether a failed write is tried sooner for it. */
  objectChanged(object: string): boolean {
    const isFailing = this.#places.get(object)?.backoff !== undefined;
    if (!isFailing && !this.#failingSources.has(object)) return false;
    this.#changed.add(object);
    return true;
  }

  /** A Namespace was changed: failed writes in it are tried sooner. */
  namespaceChanged(name: string): void {
    if (this.#failingSources.size > 0) this.#changed.add(name);
  }

  beginSync(now: number): void {
    this.#now = now;
    this.#sync++;
    if (this.#changed.size === 0) return;
    for (const [place, remembered] of this.#places)
      if (remembered.backoff) remembered.backoff = this.#earlier(place, remembered.backoff, now);
    this.#changed.clear();
  }

  /** Forgets what this sync did not use, except places in flight, which it does not plan. */
  endSync(inFlight: ReadonlySet<string>): void {
    this.#failingSources = new Map();
    for (const [place, remembered] of this.#places) {
      if (remembered.usedIn !== this.#sync && !inFlight.has(place))
        forgetUnused(remembered, this.#now);
      const source = remembered.backoff?.source;
      if (source !== undefined) this.#failingSources.set(source, source);
      if (isOver(remembered, this.#now)) this.#places.delete(place);
    }
  }

  #earlier(place: string, backoff: PlaceBackoff, now: number): PlaceBackoff {
    const { kind, error, source, until, earlyAt = Number.NEGATIVE_INFINITY } = backoff;
    // Throttled ones wait as long as the API server asked.
    if (kind !== "failed" || error === "throttled" || source === undefined) return backoff;
    const namespace = place.slice(0, place.indexOf("/"));
    const isChanged = [source, place, namespace].some((key) => this.#changed.has(key));
    const at = Math.max(now, earlyAt + EARLY_DISTANCE_MS);
    return isChanged && at < until ? { ...backoff, until: at, earlyAt: at } : backoff;
  }

  #wait(
    place: string,
    decisionKey: string,
    now: number,
    waitMs: number,
    rest: Omit<PlaceBackoff, "decisionKey" | "until" | "triedAt">,
  ): RememberedPlace {
    const remembered = this.#remember(place);
    remembered.backoff = { ...rest, decisionKey, until: now + waitMs, triedAt: now };
    return remembered;
  }

  #used(place: string): RememberedPlace | undefined {
    const remembered = this.#places.get(place);
    if (remembered) remembered.usedIn = this.#sync;
    return remembered;
  }

  #remember(place: string): RememberedPlace {
    const remembered = this.#used(place) ?? { usedIn: this.#sync };
    this.#places.set(place, remembered);
    return remembered;
  }
}

function forgetUnused(remembered: RememberedPlace, now: number): void {
  // Between our repair and the next change no sync uses it.
  if (remembered.backoff?.kind !== "fight" || remembered.backoff.until <= now)
    remembered.backoff = undefined;
  remembered.uncached = undefined;
  remembered.vanished = false;
}

function isOver(remembered: RememberedPlace, now: number): boolean {
  const { backoff, uncached, vanished, writtenAt, refilledAt, repairs } = remembered;
  if (backoff || uncached || vanished) return false;
  const isPast = (at: number | undefined, ms: number): boolean =>
    at === undefined || now - at >= ms;
  return (
    isPast(writtenAt, WRITE_DISTANCE_MS) &&
    isPast(refilledAt, REFILL_DISTANCE_MS) &&
    isPast(repairs?.at(-1), FIGHT_OVER_MS)
  );
}
