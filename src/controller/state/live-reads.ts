// Live reads before a removal or takeover, and their results. A removal follows from what the cache shows of a
// source, a Namespace or the source list. It is made only after the API server has shown that object, and only
// while the cache shows the same version or a newer one. The planner judges the newer version itself, so that no
// user keeps a copy by changing an object all the time. One result serves all places that follow from the
// object. Results that no sync uses are forgotten. `now` is ms of a monotonic clock, `random` uniform in [0, 1).
import { roundRobin } from "../flowcontrol/round-robin.ts";
import { refText } from "../../text/names.ts";
import { readBackoffMs } from "./backoff.ts";
import type { LiveRead } from "../model/actions.ts";

type Versioned = { readonly uid: string; readonly resourceVersion: string };

const ABSENT = "absent";

/** One text for a version of an object, or for none. */
export function versionOf(object: Versioned | undefined): string {
  return object ? `${object.uid} ${object.resourceVersion}` : ABSENT;
}

/** The UID of the object that the cache shows, or undefined if it shows no object. */
export function shownUid({ shown }: LiveRead): string | undefined {
  return shown === ABSENT ? undefined : shown.split(" ")[0];
}

/** How old a result may be, in ms. */
export type ResultAge = {
  /** While the cache shows the version that was read. */
  readonly same: number;
  /** While the cache shows a newer version of that object, or another object where one must be absent. */
  readonly newer: number;
};

// A newer version came by the watch alone, and a watch can be behind for long.
const ANY_AGE: ResultAge = { same: Number.POSITIVE_INFINITY, newer: 60_000 };

export type LiveReadResult =
  | { readonly kind: "confirmed" }
  /** The read is in flight, or is sent at `until`. */
  | { readonly kind: "pending"; readonly until?: number }
  | { readonly kind: "unreadable"; readonly reason: string; readonly until?: number };

/** So many reads are in flight at a time ... */
const MOST_BATCHES = 8;
/** ... and so many of a batch one after the other. */
const MOST_IN_A_BATCH = 32;

/** A flapping object is read at most once in this time. */
const DISTANCE_MS = 1000;

type Known = {
  /** undefined: it could not be read. */
  readonly version: string | undefined;
  readonly reason: string;
  readonly at: number;
  readonly until: number;
  attempts: number;
};

type Due = { readonly liveRead: LiveRead; readonly asker: string };

export class LiveReads {
  #known = new Map<string, Known>();
  #used = new Set<string>();
  #due = new Map<string, Due>();
  /** By namespace of the asking place: how many reads take its turn. */
  #asked = new Map<string, number>();
  readonly #inFlight = new Set<string>();
  #now = 0;

  /**
   * Whether a result of at most this age confirms what the cache shows. If not, the read becomes due. `asker`: the
   * namespace of the place that depends on it.
   */
  resultOf(
    liveRead: LiveRead,
    now: number,
    asker: string,
    age: ResultAge = ANY_AGE,
  ): LiveReadResult {
    const key = keyOf(liveRead);
    this.#used.add(key);
    const known = this.#known.get(key);
    if (known?.version !== undefined && now - known.at <= ageFor(known.version, liveRead, age)) {
      known.attempts = 0;
      return { kind: "confirmed" };
    }
    const isInFlight = this.#inFlight.has(key);
    const waits = !isInFlight && known !== undefined && known.until > now;
    if (!isInFlight && !waits) this.#ask(key, liveRead, asker);
    const until = waits ? { until: known.until } : {};
    return known && known.version === undefined
      ? { kind: "unreadable", reason: known.reason, ...until }
      : { kind: "pending", ...until };
  }

  /**
   * The reads that are due now, in at most `free` batches. Objects without a result come first, so that those
   * which are read again and again do not delay them. In both groups the namespaces of the asking places take
   * turns, because a user can make up copies of any source in their own namespace.
   */
  batches(free: number): readonly (readonly LiveRead[])[] {
    const [first, again]: [Due[], Due[]] = [[], []];
    for (const [key, due] of this.#due) (this.#known.has(key) ? again : first).push(due);
    const most = free * MOST_IN_A_BATCH;
    const due = [...roundRobin(listsOf(first), most), ...roundRobin(listsOf(again), most)]
      .slice(0, most)
      .map(({ liveRead }) => liveRead);
    const size = Math.ceil(due.length / Math.max(1, free));
    const batches: LiveRead[][] = [];
    for (let from = 0; from < due.length; from += size) batches.push(due.slice(from, from + size));
    return batches;
  }

  // It takes the turn of the namespace that asks for least.
  #ask(key: string, liveRead: LiveRead, asker: string): void {
    const other = this.#due.get(key)?.asker;
    const countOf = (namespace: string): number => this.#asked.get(namespace) ?? 0;
    if (other !== undefined && countOf(other) <= countOf(asker) + 1) return;
    if (other !== undefined) this.#asked.set(other, countOf(other) - 1);
    this.#asked.set(asker, countOf(asker) + 1);
    this.#due.set(key, { liveRead, asker });
  }

  began(liveReads: readonly LiveRead[]): void {
    for (const liveRead of liveReads) this.#inFlight.add(keyOf(liveRead));
  }

  ended(liveReads: readonly LiveRead[]): void {
    for (const liveRead of liveReads) this.#inFlight.delete(keyOf(liveRead));
  }

  /**
   * The API server shows `version`. Where the cache showed another, the cache has received it.
   * If the cache does not accept it, the read is repeated after a while.
   */
  found(liveRead: LiveRead, version: string, now: number, random: number): void {
    const attempts = version === liveRead.shown ? 0 : this.#attempts(liveRead) + 1;
    const until = now + (attempts === 0 ? DISTANCE_MS : readBackoffMs(attempts, random));
    this.#known.set(keyOf(liveRead), { version, reason: "", at: now, until, attempts });
  }

  /** The API server gave no answer. `reason` is one line without a value of a Secret. */
  failed(liveRead: LiveRead, reason: string, now: number, random: number): void {
    const attempts = this.#attempts(liveRead) + 1;
    const until = now + readBackoffMs(attempts, random);
    this.#known.set(keyOf(liveRead), { version: undefined, reason, at: now, until, attempts });
  }

  #attempts(liveRead: LiveRead): number {
    return this.#known.get(keyOf(liveRead))?.attempts ?? 0;
  }

  /** The API server answers again after an outage: what it did not answer is read at once. */
  serverIsBack(): void {
    for (const [key, { version }] of this.#known)
      if (version === undefined) this.#known.delete(key);
  }

  beginSync(now: number): void {
    this.#now = now;
    this.#used = new Set();
    this.#due = new Map();
    this.#asked = new Map();
  }

  endSync(): void {
    for (const [key, { at }] of this.#known) {
      const recent = this.#now - at < DISTANCE_MS;
      if (!recent && !this.#used.has(key) && !this.#inFlight.has(key)) this.#known.delete(key);
    }
  }
}

/** Action keys of the batches in the pool. */
export const LIVE_READ_BATCHES: readonly string[] = Array.from(
  { length: MOST_BATCHES },
  (_, index) => `live reads ${index}`,
);

/** For how long a result confirms what the cache shows, negative for never. */
function ageFor(found: string, { shown, gone }: LiveRead, age: ResultAge): number {
  if (found === shown) return age.same;
  const [uid, version = ""] = found.split(" ");
  const [cachedUid, cachedVersion = "", unread] = shown.split(" ");
  const confirms =
    uid === cachedUid
      ? unread === undefined && !isOlder(cachedVersion, version)
      : gone !== undefined && uid !== gone;
  return confirms ? age.newer : -1;
}

// As the API compares resourceVersions.
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

function listsOf(due: readonly Due[]): Iterable<readonly Due[]> {
  return Map.groupBy(due, ({ asker }) => asker).values();
}

function keyOf({ kind, ref }: LiveRead): string {
  return `${kind} ${refText(ref)}`;
}
