// Decides when one reflector tries again after a round of list or watch has failed.
// Promises: the waits grow from 0.8 s to 30 s (client-go's). They start again only after a successful round,
// which delivered an event or a bookmark, or lasted five seconds. So a server that answers and disconnects at
// once meets a growing wait. While no server answers, attempts are at most a second apart for the first 40 s
// and later at most 30 s apart. The end of the outage ends the wait, whichever client finds it. A first 410 is
// not a fault of the server: the next list starts at once. A wait that an answer asks for is 30 s at most, or
// five minutes after a 429. Any request that succeeds ends the wait after a 503. After three early attempts in
// vain, it waits its full time.
import { Access } from "./access.ts";
import { ApiError, type ApiErrorKind } from "../rest/api-error.ts";
import { Backoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import { LONGEST_RETRY_MS, longestRetryMs } from "../rest/reachability.ts";
import type { Reachability } from "../rest/reachability.ts";
import type { ReflectorOptions } from "./informer-options.ts";

const WORTH_MS = 5000;
// A killed server may restart so fast that no client notices the outage. It then refuses requests that it
// accepts once rights and caches are loaded.
const STARTING_MS = 15_000;
const WOKEN_IN_VAIN = 3;

/** How a list or watch ended. */
export type RoundEnd = {
  readonly reason: string;
  /** Whether it ended badly. */
  readonly wait: boolean;
  readonly relist: boolean;
  readonly error?: Error;
};

export class Reconnect {
  readonly access: Access;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #reachability: Reachability;
  #openedAt: number | undefined;
  /** When a watch was last cut, which may have been the end of the server. */
  #cutAt = Number.NEGATIVE_INFINITY;
  /** When rounds began to be unanswered. */
  #unansweredSince: number | undefined;
  #wokenInVain = 0;
  /** The number of ended outages at the last 410. */
  #goneAfter: number | undefined;

  constructor({
    client,
    clock,
    backoff,
  }: Pick<ReflectorOptions<never>, "client" | "clock" | "backoff">) {
    this.#clock = clock;
    this.#backoff = backoff ?? new Backoff({ clock });
    this.#reachability = client.reachability;
    this.access = new Access(clock);
  }

  /** The server accepted the request for a list or a watch. */
  opened(): void {
    this.#openedAt = this.#clock.monotonic();
    this.#unansweredSince = undefined;
    this.#wokenInVain = 0;
    this.access.granted();
  }

  /** A watch delivered an event or a bookmark. The back-off starts again. */
  delivered(): void {
    this.#backoff.reset();
    this.#goneAfter = undefined;
  }

  /** How long to wait after a round that ended like this, in ms. 0 means no wait. */
  nextMs({ wait, error }: Pick<RoundEnd, "wait" | "error">): number {
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
    const first = this.#goneAfter !== this.#reachability.recoveries;
    this.#goneAfter = this.#reachability.recoveries;
    return first;
  }

  // The upper half, so that many clients of the same server do not return at once.
  #within(ms: number): number {
    return (ms * (1 + this.#clock.random())) / 2;
  }

  /** Resolves after `ms`, at the end of an outage, or when `signal` aborts. */
  async wait(ms: number, error: Error | undefined, signal: AbortSignal): Promise<void> {
    const ignoresRecovery = this.#wokenInVain >= WOKEN_IN_VAIN;
    // A gateway that closes for maintenance asks for an hour, although the API server is back a second later.
    const impatient = !ignoresRecovery && askedMs(error) > 0 && nobodyAnswered(error);
    const woken = impatient
      ? this.#reachability.sleepUntilAnswered(ms, signal)
      : this.#reachability.sleep(ms, signal, ignoresRecovery);
    if (await woken) this.#wokenInVain++;
  }
}

/** The wait that the answer asks for. It is capped at our longest back-off, except after a 429. */
function askedMs(error: Error | undefined): number {
  if (!(error instanceof ApiError)) return 0;
  const { kind, retryAfterMs = 0 } = error;
  return kind === "throttled" ? retryAfterMs : Math.min(retryAfterMs, LONGEST_RETRY_MS);
}

/** Whether `error` shows that no API server answered: refused, reset, or answered by a proxy. */
function nobodyAnswered(error: Error | undefined): boolean {
  if (!(error instanceof ApiError) || error.kind !== "unavailable") return false;
  return error.status === 0 || error.status === 502 || error.status === 503;
}

export function failedRound(thrown: unknown): RoundEnd {
  const error = thrown instanceof Error ? thrown : new Error("not an error was thrown");
  return { reason: errorKindOf(error) ?? "failed", wait: true, relist: !mayResume(error), error };
}

/** Whether to resume with a watch from the last version instead of a list. */
function mayResume(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  // Status 0: refused, reset, cut.
  if (error.kind === "unavailable") return error.status === 0 || error.status === 503;
  return RESUMABLE.has(error.kind);
}

export function errorKindOf(error: unknown): ApiErrorKind | undefined {
  return error instanceof ApiError ? error.kind : undefined;
}

// After these errors a list would be the most expensive request for a server that is busy, away, or denies us
// access. It would be answered no better than a watch from the last version.
const RESUMABLE: ReadonlySet<ApiErrorKind> = new Set<ApiErrorKind>([
  "throttled",
  "timeout",
  "unauthorized",
  "forbidden",
  "notFound",
  "cancelled",
]);
