// What the API server was asked live before a removal or takeover, and what it answered. A removal
// follows from what the cache shows of a source, a Namespace or the source list. It is made only after the
// API server has shown that object, and only while the cache shows the same version or a newer one. The
// planner judges the newer version itself, so that no user keeps a copy by changing an object all the
// time. One answer serves all places that follow from the object. Answers that no sync asks for are
// forgotten. No clock: `now` is milliseconds of a monotonic clock, `random` uniform in [0, 1).
import { roundRobin } from "../../kube/round-robin.ts";
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

/** How old an answer may be, in ms. */
export type AnswerAge = {
  /** While the cache shows the version that was answered. */
  readonly same: number;
  /** While the cache shows a newer version of that object, or another object where one must be absent. */
  readonly newer: number;
};

// A newer version came by the watch alone, and a watch can be behind for long.
const ANY_AGE: AnswerAge = { same: Number.POSITIVE_INFINITY, newer: 60_000 };

export type LiveReadReply =
  | { readonly kind: "confirmed" }
  /** It is being asked, or will be at `until`. */
  | { readonly kind: "asked"; readonly until?: number }
  | { readonly kind: "unreadable"; readonly reason: string; readonly until?: number };

/** So many are asked at a time ... */
const MOST_FLYING = 8;
/** ... one after the other in each flight. */
const MOST_IN_A_FLIGHT = 32;

/** A flapping object is asked at most once in this time. */
const DISTANCE_MS = 1000;

type Known = {
  /** undefined: it could not be read. */
  readonly version: string | undefined;
  readonly reason: string;
  readonly at: number;
  readonly until: number;
  attempts: number;
};

export class LiveReads {
  #known = new Map<string, Known>();
  #asked = new Set<string>();
  #due = new Map<string, LiveRead>();
  readonly #flying = new Set<string>();
  #now = 0;

  /** Whether an answer of at most this age confirms what the cache shows. If not, the question becomes due. */
  reply(question: LiveRead, now: number, age: AnswerAge = ANY_AGE): LiveReadReply {
    const key = keyOf(question);
    this.#asked.add(key);
    const known = this.#known.get(key);
    if (known?.version !== undefined && now - known.at <= ageFor(known.version, question, age)) {
      known.attempts = 0;
      return { kind: "confirmed" };
    }
    const flying = this.#flying.has(key);
    const waits = !flying && known !== undefined && known.until > now;
    // The same question about an object that was seen has a turn of its own.
    const isKept = question.seen === false && this.#due.has(key);
    if (!flying && !waits && !isKept) this.#due.set(key, question);
    const until = waits ? { until: known.until } : {};
    return known && known.version === undefined
      ? { kind: "unreadable", reason: known.reason, ...until }
      : { kind: "asked", ...until };
  }

  /**
   * What is to be asked now, in at most `free` flights of several questions each. Objects without an
   * answer come first: those that are asked again and again do not keep them waiting. In each, namespaces take
   * turns. All objects that were never seen take one turn together, because a user can make them up.
   */
  flights(free: number): readonly (readonly LiveRead[])[] {
    const [first, again]: [LiveRead[], LiveRead[]] = [[], []];
    for (const [key, question] of this.#due) (this.#known.has(key) ? again : first).push(question);
    const most = free * MOST_IN_A_FLIGHT;
    const due = [...roundRobin(listsOf(first), most), ...roundRobin(listsOf(again), most)].slice(
      0,
      most,
    );
    const size = Math.ceil(due.length / Math.max(1, free));
    const flights: LiveRead[][] = [];
    for (let from = 0; from < due.length; from += size) flights.push(due.slice(from, from + size));
    return flights;
  }

  began(questions: readonly LiveRead[]): void {
    for (const question of questions) this.#flying.add(keyOf(question));
  }

  ended(questions: readonly LiveRead[]): void {
    for (const question of questions) this.#flying.delete(keyOf(question));
  }

  /**
   * The API server shows `version`. Where the cache showed another, the cache has received it.
   * If the cache does not accept it, the question is repeated after a while.
   */
  answered(question: LiveRead, version: string, now: number, random: number): void {
    const attempts = version === question.shown ? 0 : this.#attempts(question) + 1;
    const until = now + (attempts === 0 ? DISTANCE_MS : readBackoffMs(attempts, random));
    this.#known.set(keyOf(question), { version, reason: "", at: now, until, attempts });
  }

  /** The API server gave no answer. `reason` is one line without a value of a Secret. */
  failed(question: LiveRead, reason: string, now: number, random: number): void {
    const attempts = this.#attempts(question) + 1;
    const until = now + readBackoffMs(attempts, random);
    this.#known.set(keyOf(question), { version: undefined, reason, at: now, until, attempts });
  }

  #attempts(question: LiveRead): number {
    return this.#known.get(keyOf(question))?.attempts ?? 0;
  }

  /** The API server answers again after an outage: what it did not answer is asked at once. */
  serverIsBack(): void {
    for (const [key, { version }] of this.#known)
      if (version === undefined) this.#known.delete(key);
  }

  beginPass(now: number): void {
    this.#now = now;
    this.#asked = new Set();
    this.#due = new Map();
  }

  endPass(): void {
    for (const [key, { at }] of this.#known) {
      const recent = this.#now - at < DISTANCE_MS;
      if (!recent && !this.#asked.has(key) && !this.#flying.has(key)) this.#known.delete(key);
    }
  }
}

/** Action keys of the flights in the pool. */
export const LIVE_READ_FLIGHTS: readonly string[] = Array.from(
  { length: MOST_FLYING },
  (_, index) => `question ${index}`,
);

/** For how long an answer confirms what the cache shows, negative for never. */
function ageFor(answered: string, { shown, gone }: LiveRead, age: AnswerAge): number {
  if (answered === shown) return age.same;
  const [uid, version = ""] = answered.split(" ");
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

// A user can make up objects that were never seen, in the name of any namespace.
function listsOf(questions: readonly LiveRead[]): Iterable<readonly LiveRead[]> {
  return Map.groupBy(questions, ({ ref, seen }) => (seen === false ? "" : ref.namespace)).values();
}

function keyOf({ kind, ref }: LiveRead): string {
  return `${kind} ${refText(ref)}`;
}
