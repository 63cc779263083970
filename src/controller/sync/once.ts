// What a run with `--once` waits for, and for how long. Promises: it ends, whatever the API server and
// whoever changes things do. Does not promise that where another holds the Lease: that is waited for.
import { sleep, type Clock } from "../../kube/time/clock.ts";
import type { Log } from "../report/log.ts";
import { isPending, type Row } from "../model/verdicts.ts";
import { refText } from "../../text/names.ts";
import type { SyncResult } from "./sync.ts";

/**
 * So long beyond the grace what becomes due by itself is waited for, from the first time that nothing else
 * was to be done: some seven tries of a write that fails. Whoever goes on changing things would keep
 * something due for ever.
 */
const PATIENCE_MS = 60_000;
/** So long a cache may hear nothing and not be filled: twice as long as a page of a list is waited for. */
const SILENCE_MS = 120_000;
/** Whatever is heard meanwhile: a million objects of 2 KiB take minutes. */
const FILLED_WITHIN_MS = 30 * 60_000;
const LOOKS_EVERY_MS = 1000;
/**
 * Each place is written once, or twice where its copy is replaced. Sources that change so fast that no sync
 * finds nothing to do would keep it busy for ever.
 */
const MOST_WRITES_A_PLACE = 4;
const FEW = 100;

type Left = Pick<SyncResult, "settled" | "waiting" | "written" | "places">;
/** By resource. */
type Filling = Readonly<
  Record<string, { readonly hasSynced: boolean; readonly lastActivityMs: number }>
>;

export class Once {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #graceMs: number;
  /** undefined: there was more to do as yet. */
  #ends: number | undefined;

  /** `graceMs`: the longest that an ending waits. */
  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }, graceMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#graceMs = graceMs;
  }

  /** Resolves with false, which is logged, where one of `watches` is not filled and hears nothing, or takes too long. */
  async fills(filled: Promise<unknown>, watches: Filling, signal: AbortSignal): Promise<boolean> {
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    const began = this.#clock.monotonic();
    let silent: readonly string[] = [];
    const silence = async (): Promise<void> => {
      while (!either.aborted && silent.length === 0) {
        await sleep(this.#clock, LOOKS_EVERY_MS, either);
        silent = this.#silent(watches, began);
      }
    };
    await Promise.race([filled, silence()]);
    enough.abort();
    if (silent.length === 0) return true;
    this.#log.error({ resources: silent }, "caches cannot be filled, giving up");
    return false;
  }

  /**
   * After a sync: how long what it left may still be waited for, in ms; 0: this is the end, and where
   * something was given up that is logged. `unread`: the source list is not known yet; `rows`: of the plan.
   */
  leftMs(
    { settled, waiting, written, places }: Left,
    unread: boolean,
    rows: readonly Row[],
  ): number {
    if (written > MOST_WRITES_A_PLACE * places + FEW) {
      this.#log.warn({ written, places, open: openIn(rows) }, "sources keep changing; giving up");
      return 0;
    }
    if (!settled) return Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    this.#ends ??= now + this.#graceMs + PATIENCE_MS;
    if (!waiting && !unread) return 0;
    if (now < this.#ends) return this.#ends - now;
    const seconds = (this.#graceMs + PATIENCE_MS) / 1000;
    this.#log.warn({ seconds, open: openIn(rows) }, "still waiting for something, giving up");
    return 0;
  }

  #silent(watches: Filling, began: number): readonly string[] {
    const now = this.#clock.monotonic();
    const late = now - began > FILLED_WITHIN_MS;
    return Object.entries(watches)
      .filter(([, { hasSynced }]) => !hasSynced)
      .filter(([, { lastActivityMs }]) => late || now - lastActivityMs > SILENCE_MS)
      .map(([resource]) => resource);
  }
}

const MOST_NAMED = 5;

/** A few places that are not as they are to be, each with its verdict and the reason. */
function openIn(rows: readonly Row[]): readonly string[] {
  return rows
    .filter(({ verdict }) => isPending(verdict) || verdict === "backoff")
    .slice(0, MOST_NAMED)
    .map(({ kind, place, verdict, reason }) => `${kind} ${refText(place)}: ${verdict}, ${reason}`);
}
