// What is remembered of single places between two plans: failed writes and when to try again, places
// taken by a Secret that the cache does not show, the time of the last write, and repairs that look
// like a fight. No clock: `now` is milliseconds of a monotonic clock, `chance` is uniform in [0, 1).
// It forgets what no pass asks for any more, so it is as large as the trouble is.

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 5 * 60_000;
const JITTER = 0.1;

/** After a 409: the cache is about to catch up; not a failure. It doubles while the cache does not. */
const STALE_RETRY_MS = 100;
const LONGEST_STALE_RETRY_MS = 5000;
/** A flapping source costs at most one write a place in this time. */
const WRITE_DISTANCE_MS = 1000;

const FIGHT_WINDOW_MS = 60_000;
const FIGHT_REPAIRS = 5;
const FIRST_FIGHT_BACKOFF_MS = 30_000;
/** A fight is over when nobody undid our repair for this long. */
const FIGHT_OVER_MS = 10 * 60_000;

/** Exponential 1 s, 2 s, ... 5 min, each ±10 %. */
export function backoffMs(attempts: number, chance: number, firstMs = FIRST_BACKOFF_MS): number {
  const full = Math.min(LONGEST_BACKOFF_MS, firstMs * 2 ** Math.min(30, attempts - 1));
  return full * (1 - JITTER + 2 * JITTER * chance);
}

export type Trouble = {
  readonly kind: "failed" | "stale" | "fight";
  readonly inputs: string;
  readonly until: number;
  readonly attempts: number;
  readonly reason: string;
};

type Hidden = { readonly until: number; readonly attempts: number };
type Repairs = { readonly times: readonly number[]; readonly level: number };

export class Pairs {
  #troubles = new Map<string, Trouble>();
  #hidden = new Map<string, Hidden>();
  /** In the order of time. */
  readonly #written = new Map<string, number>();
  readonly #repairs = new Map<string, Repairs>();
  readonly #vanished = new Set<string>();
  /** Of pulling Secrets that the pass now running, and the one before it, found wanting or full. */
  #filled = new Map<string, string>();
  #filledBefore: ReadonlyMap<string, string> = new Map();
  #now = 0;
  /** Places that the pass now running has asked for. */
  #asked = new Set<string>();

  /** What keeps the write of `inputs` at `place` from being tried, if anything does. */
  trouble(place: string, inputs: string): Trouble | undefined {
    const trouble = this.#troubles.get(place);
    if (!trouble) return undefined;
    this.#asked.add(place);
    return trouble.inputs === inputs ? trouble : undefined;
  }

  /** When to look again at a place that is taken although the cache shows it empty. */
  hiddenUntil(place: string): number | undefined {
    const hidden = this.#hidden.get(place);
    if (hidden) this.#asked.add(place);
    return hidden?.until;
  }

  /** Earliest time of the next write at `place`; undefined: any. */
  nextWriteAt(place: string, now: number): number | undefined {
    const written = this.#written.get(place);
    if (written === undefined || now - written >= WRITE_DISTANCE_MS) return undefined;
    return written + WRITE_DISTANCE_MS;
  }

  failed(place: string, inputs: string, reason: string, now: number, chance: number): void {
    const before = this.#troubles.get(place);
    const again = before?.kind === "failed" && before.inputs === inputs;
    const attempts = again ? before.attempts + 1 : 1;
    this.#set(place, {
      kind: "failed",
      inputs,
      until: now + backoffMs(attempts, chance),
      attempts,
      reason,
    });
  }

  stale(place: string, inputs: string, now: number): void {
    const before = this.#troubles.get(place);
    const again = before?.kind === "stale" && before.inputs === inputs;
    const attempts = again ? before.attempts + 1 : 1;
    const waitMs = Math.min(LONGEST_STALE_RETRY_MS, STALE_RETRY_MS * 2 ** (attempts - 1));
    const reason = "the cache was behind; tried again at once";
    this.#set(place, { kind: "stale", inputs, until: now + waitMs, attempts, reason });
  }

  #set(place: string, trouble: Trouble): void {
    this.#troubles.set(place, trouble);
    this.#asked.add(place);
  }

  hidden(place: string, now: number, chance: number): void {
    const attempts = (this.#hidden.get(place)?.attempts ?? 0) + 1;
    this.#hidden.set(place, { attempts, until: now + backoffMs(attempts, chance) });
    this.#asked.add(place);
  }

  notHidden(place: string): void {
    this.#hidden.delete(place);
  }

  written(place: string, now: number): void {
    this.#troubles.delete(place);
    this.#hidden.delete(place);
    this.#vanished.delete(place);
    this.#written.delete(place);
    this.#written.set(place, now);
  }

  /** A write that undid what somebody did to a copy. True: from now on this place is a fight. */
  repaired(place: string, inputs: string, now: number, chance: number): boolean {
    const before = this.#repairs.get(place);
    const last = before?.times.at(-1) ?? Number.NEGATIVE_INFINITY;
    const level = now - last > FIGHT_OVER_MS ? 0 : (before?.level ?? 0);
    const recent = (before?.times ?? []).filter((time) => now - time < FIGHT_WINDOW_MS);
    const times = [...recent, now];
    const fight = level > 0 || times.length > FIGHT_REPAIRS;
    this.#repairs.set(place, { times, level: fight ? level + 1 : 0 });
    if (!fight) return false;
    this.#set(place, {
      kind: "fight",
      inputs,
      until: now + backoffMs(level + 1, chance, FIRST_FIGHT_BACKOFF_MS),
      attempts: level + 1,
      reason: `repaired more than ${FIGHT_REPAIRS} times a minute: somebody keeps changing it`,
    });
    return level === 0;
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

  /** A pulling Secret was filled. */
  filled(place: string, inputs: string): void {
    this.#filled.set(place, inputs);
  }

  /** The inputs of the last fill, for as long as each pass asks: its record may have been taken off. */
  lastFill(place: string): string | undefined {
    const inputs = this.#filled.get(place) ?? this.#filledBefore.get(place);
    if (inputs !== undefined) this.#filled.set(place, inputs);
    return inputs;
  }

  beginPass(now: number): void {
    this.#now = now;
    this.#asked = new Set();
    this.#filledBefore = this.#filled;
    this.#filled = new Map();
    for (const [place, time] of this.#written) {
      if (now - time < WRITE_DISTANCE_MS) break;
      this.#written.delete(place);
    }
    for (const [place, { times }] of this.#repairs) {
      if (now - (times.at(-1) ?? 0) > FIGHT_OVER_MS) this.#repairs.delete(place);
    }
  }

  /** Forgets what this pass did not ask for; places in flight are not asked for and stay. */
  endPass(inFlight: ReadonlySet<string>): void {
    for (const [place, { kind, until }] of this.#troubles) {
      // Between our repair and the next change a pass finds nothing to ask for.
      if (kind === "fight" && until > this.#now) continue;
      this.#forget(this.#troubles, place, inFlight);
    }
    for (const place of this.#hidden.keys()) this.#forget(this.#hidden, place, inFlight);
    for (const place of this.#vanished) {
      if (!this.#asked.has(place) && !inFlight.has(place)) this.#vanished.delete(place);
    }
  }

  #forget(map: Map<string, unknown>, place: string, inFlight: ReadonlySet<string>): void {
    if (!this.#asked.has(place) && !inFlight.has(place)) map.delete(place);
  }
}
