// When one reflector tries again after a round of list or watch has ended badly.
// Promises: the waits grow from 0.8 s to 30 s (client-go's) and start again only after a round that was
// worth it: it delivered an event or a bookmark, or lasted five seconds; so a server that answers and
// cuts at once meets a growing wait. While nobody answers, tries are at most a second apart for the
// first 40 s and at most 30 s later, and the end of the outage, whoever finds it, wakes. A first 410
// is no trouble of the server's: it lists again at once.
// A wait that an answer asks for is 30 s at most, or five minutes after a 429, and any request that succeeds
// ends the wait after a 503. Does not promise to wake for ever: after three times in vain it waits its own time.
import { Access } from "./access.ts";
import { ApiError, type ApiErrorKind } from "../rest/api-error.ts";
import { Backoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import { LONGEST_RETRY_MS, longestRetryMs } from "../rest/reachability.ts";
import type { Reachability } from "../rest/reachability.ts";
const WORTH_MS = 5000;
// A server that was killed may start so fast that nobody finds it away, and then refuses what it will
// take once rights and caches are loaded.
const STARTING_MS = 15_000;
const WOKEN_IN_VAIN = 3;

export type ReconnectOptions = {
  readonly clock: Clock;
  readonly backoff?: Backoff | undefined;
  readonly reachability: Reachability;
};

type Ended = {
  /** Whether it ended badly. */
  readonly wait: boolean;
  readonly error?: Error;
};

export class Reconnect {
  readonly access: Access;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #reachability: Reachability;
  #openedAt: number | undefined;
  /** When a watch was last cut: perhaps that was the server's end. */
  #cutAt = Number.NEGATIVE_INFINITY;
  /** Since when no round has been answered. */
  #unansweredSince: number | undefined;
  #wokenInVain = 0;
  /** Outages that had ended when a 410 last came. */
  #goneAfter: number | undefined;

  constructor({ clock, backoff, reachability }: ReconnectOptions) {
    this.#clock = clock;
    this.#backoff = backoff ?? new Backoff({ clock });
    this.#reachability = reachability;
    this.access = new Access(clock);
  }

  /** The server took the request for a list or a watch. */
  opened(): void {
    this.#openedAt = this.#clock.monotonic();
    this.#unansweredSince = undefined;
    this.#wokenInVain = 0;
    this.access.granted();
  }

  /** A watch brought an event or a bookmark: the next wait is the first again. */
  delivered(): void {
    this.#backoff.reset();
    this.#goneAfter = undefined;
  }

  /** How long to wait after a round has ended so, in ms; 0: not at all. */
  nextMs({ wait, error }: Ended): number {
    const opened = this.#openedAt;
    this.#openedAt = undefined;
    if (opened !== undefined && this.#clock.monotonic() - opened >= WORTH_MS) this.delivered();
    if (error instanceof ApiError && error.kind === "forbidden") this.access.refused();
    if (!wait) return 0;
    const own = this.#ownMs(error, opened !== undefined);
    return Math.max(own, askedMs(error));
  }

  #ownMs(error: Error | undefined, opened: boolean): number {
    if (error instanceof ApiError && error.kind === "gone" && this.#isFirst410()) return 0;
    if (!opened && nobodyAnswered(error)) {
      this.#unansweredSince ??= this.#clock.monotonic();
      return this.#within(longestRetryMs(this.#clock.monotonic() - this.#unansweredSince));
    }
    const grown = this.#backoff.next();
    if (opened && nobodyAnswered(error)) this.#cutAt = this.#clock.monotonic();
    const starting = !opened && this.#clock.monotonic() - this.#cutAt < STARTING_MS;
    const soon = starting || this.#reachability.unsettled;
    return soon ? Math.min(grown, this.#within(longestRetryMs(0))) : grown;
  }

  #isFirst410(): boolean {
    const first = this.#goneAfter !== this.#reachability.returns;
    this.#goneAfter = this.#reachability.returns;
    return first;
  }

  // The upper half, so that many who wait for the same server come one after the other.
  #within(ms: number): number {
    return (ms * (1 + this.#clock.random())) / 2;
  }

  /** Resolves after `ms`, at the end of an outage, or when `signal` aborts. */
  async wait(ms: number, error: Error | undefined, signal: AbortSignal): Promise<void> {
    const deaf = this.#wokenInVain >= WOKEN_IN_VAIN;
    // A gateway that closes for maintenance names an hour, and the API server is back a second later.
    const impatient = !deaf && askedMs(error) > 0 && nobodyAnswered(error);
    const woken = impatient
      ? this.#reachability.sleepUntilAnswered(ms, signal)
      : this.#reachability.sleep(ms, signal, deaf);
    if (await woken) this.#wokenInVain++;
  }
}

/** How long the answer asks to wait. A server without room is believed, others as long as our own back-off. */
function askedMs(error: Error | undefined): number {
  if (!(error instanceof ApiError)) return 0;
  const { kind, retryAfterMs = 0 } = error;
  return kind === "throttled" ? retryAfterMs : Math.min(retryAfterMs, LONGEST_RETRY_MS);
}

/** Whether `error` says that no API server was there to answer: refused, reset, or a proxy's word. */
function nobodyAnswered(error: Error | undefined): boolean {
  if (!(error instanceof ApiError) || error.kind !== "unavailable") return false;
  return error.status === 0 || error.status === 502 || error.status === 503;
}

/** Whether a watch from the last version is the right next thing, rather than a list. */
export function mayResume(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  // Status 0: refused, reset, cut.
  if (error.kind === "unavailable") return error.status === 0 || error.status === 503;
  return RESUMABLE.has(error.kind);
}

/** Whether the server refuses a streaming list as such, so that it need not be asked again. */
export function cannotStream(error: unknown): boolean {
  const kind = errorKindOf(error);
  return kind === "badRequest" || kind === "invalid";
}

export function errorKindOf(error: unknown): ApiErrorKind | undefined {
  return error instanceof ApiError ? error.kind : undefined;
}

// After these a list would be the most expensive question to ask a server that is busy, away, or does
// not let us in, and would be answered no better than a watch from the last version.
const RESUMABLE: ReadonlySet<ApiErrorKind> = new Set<ApiErrorKind>([
  "throttled",
  "timeout",
  "unauthorized",
  "forbidden",
  "notFound",
  "cancelled",
]);
