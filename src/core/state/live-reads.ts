// What the API server was asked live before something ends, and what it answered. An ending follows
// from what the cache shows of a source or a namespace; it goes on only when the API server has said
// the same of that object: this UID and version, or none. One answer serves all places that follow from
// the object; what no pass asks for any more is forgotten. No clock: `now` is milliseconds of a
// monotonic clock, `chance` uniform in [0, 1).
import { refText } from "../annotations/names.ts";
import { readBackoffMs } from "./backoff.ts";
import type { LiveRead } from "../model/actions.ts";

type Versioned = { readonly uid: string; readonly resourceVersion: string };

const ABSENT = "absent";

/** One text for a version of an object, or for none. */
export function versionOf(object: Versioned | undefined): string {
  return object ? `${object.uid} ${object.resourceVersion}` : ABSENT;
}

/** The UID of the object that the cache shows; undefined: none. */
export function shownUid({ shown }: LiveRead): string | undefined {
  return shown === ABSENT ? undefined : shown.split(" ")[0];
}

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

  /** Whether the API server said what the cache shows, at most `freshMs` ago; if not it will be asked. */
  reply(question: LiveRead, now: number, freshMs = Number.POSITIVE_INFINITY): LiveReadReply {
    const key = keyOf(question);
    this.#asked.add(key);
    const known = this.#known.get(key);
    if (known?.version === question.shown && now - known.at <= freshMs) {
      known.attempts = 0;
      return { kind: "confirmed" };
    }
    const flying = this.#flying.has(key);
    const waits = !flying && known !== undefined && known.until > now;
    if (!flying && !waits) this.#due.set(key, question);
    const until = waits ? { until: known.until } : {};
    return known && known.version === undefined
      ? { kind: "unreadable", reason: known.reason, ...until }
      : { kind: "asked", ...until };
  }

  /** What is to be asked now, in at most `free` flights of several questions each. */
  flights(free: number): readonly (readonly LiveRead[])[] {
    const due = [...this.#due.values()].slice(0, free * MOST_IN_A_FLIGHT);
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
   * The API server shows `version`. Where that is not what the cache showed, the cache has been told;
   * if it will not have it, it is asked again after a while.
   */
  answered(question: LiveRead, version: string, now: number, chance: number): void {
    const attempts = version === question.shown ? 0 : this.#attempts(question) + 1;
    const until = now + (attempts === 0 ? DISTANCE_MS : readBackoffMs(attempts, chance));
    this.#known.set(keyOf(question), { version, reason: "", at: now, until, attempts });
  }

  /** The API server gave no answer; `reason` is one line without a value of a Secret. */
  failed(question: LiveRead, reason: string, now: number, chance: number): void {
    const attempts = this.#attempts(question) + 1;
    const until = now + readBackoffMs(attempts, chance);
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

/** Keys under which flights go through the pool. */
export const LIVE_READ_FLIGHTS: readonly string[] = Array.from(
  { length: MOST_FLYING },
  (_, index) => `question ${index}`,
);

function keyOf({ kind, ref }: LiveRead): string {
  return `${kind} ${refText(ref)}`;
}
