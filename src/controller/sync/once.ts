// What a run with `--once` waits for, and for how long. Promises: it ends, whatever the API server and other
// clients do. Exception: if another replica holds the Lease, it waits for that without a limit.
import { reasonText } from "../model/reasons.ts";
import { sleep, type Clock } from "../../../packages/kube/time/clock.ts";
import type { LeaderElector } from "../../../packages/kube/leaderelection/leader-elector.ts";
import type { Log } from "../report/log.ts";
import { isPending, type Row } from "../model/verdicts.ts";
import { refText } from "../../text/names.ts";
import type { SyncResult } from "./sync-result.ts";

/**
 * Time to wait for what becomes due within a moment, from the first sync with nothing else to do. Without this limit,
 * a client that keeps changing objects would keep the run waiting for ever.
 */
const MOST_WAIT_MS = 60_000;
/** An unfilled cache may be silent for this long, twice the timeout of a list page. */
const SILENCE_MS = 120_000;
/** Limit for filling a cache, even if it is not silent: a million objects of 2 KiB take minutes. */
const FILLED_WITHIN_MS = 30 * 60_000;
const CHECK_EVERY_MS = 1000;
/**
 * Each place is written once, or twice if its copy is replaced. Without this limit, sources that change
 * between any two syncs would keep the run busy for ever.
 */
const MOST_WRITES_A_PLACE = 4;
const EXTRA_WRITES = 100;

type Remaining = Pick<SyncResult, "settled" | "waiting" | "written" | "places">;
/** By resource. */
type Fills = Readonly<
  Record<string, { readonly hasSynced: boolean; readonly lastActivityMs: number }>
>;

export class Once {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Undefined until a sync found nothing more to do. */
  #ends: number | undefined;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Resolves with false, and logs that, if one of `watches` is not filled and silent, or takes too long. */
  async fills(filled: Promise<unknown>, watches: Fills, signal: AbortSignal): Promise<boolean> {
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    const began = this.#clock.monotonic();
    let silent: readonly string[] = [];
    const silence = async (): Promise<void> => {
      while (!either.aborted && silent.length === 0) {
        await sleep(this.#clock, CHECK_EVERY_MS, either);
        silent = this.#silent(watches, began);
      }
    };
    await Promise.race([filled, silence()]);
    enough.abort();
    if (silent.length === 0) return true;
    this.#log.error({ resources: silent }, "caches cannot be filled, giving up");
    return false;
  }

  /** Resolves with false, and logs that, if the API server neither gives the Lease nor shows a holder. */
  async leads(
    elector: Pick<LeaderElector, "isLeader" | "holder">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const began = this.#clock.monotonic();
    while (!signal.aborted && !elector.isLeader && elector.holder === "") {
      if (this.#clock.monotonic() - began > SILENCE_MS) {
        this.#log.error({}, "the Lease cannot be taken, giving up");
        return false;
      }
      await sleep(this.#clock, CHECK_EVERY_MS, signal);
    }
    return true;
  }

  /**
   * How long to wait after a sync for what it left, in ms. 0 ends the run, and whatever is given up is logged.
   * `unread`: the source list is not known yet. `rows`: the rows of the plan.
   */
  leftMs(
    { settled, waiting, written, places }: Remaining,
    unread: boolean,
    rows: readonly Row[],
  ): number {
    if (written > MOST_WRITES_A_PLACE * places + EXTRA_WRITES) {
      this.#log.warn({ written, places, open: openIn(rows) }, "sources keep changing; giving up");
      return 0;
    }
    if (!settled) return Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    this.#ends ??= now + MOST_WAIT_MS;
    if ((waiting || unread) && now < this.#ends) return this.#ends - now;
    const open = openIn(rows);
    if (open.length > 0)
      this.#log.warn({ open }, "not everything is current; a run with --once does not wait for it");
    return 0;
  }

  #silent(watches: Fills, began: number): readonly string[] {
    const now = this.#clock.monotonic();
    const late = now - began > FILLED_WITHIN_MS;
    return Object.entries(watches)
      .filter(([, { hasSynced }]) => !hasSynced)
      .filter(([, { lastActivityMs }]) => late || now - lastActivityMs > SILENCE_MS)
      .map(([resource]) => resource);
  }
}

const MOST_NAMED = 5;

/** A few places that are not as wanted, each with its verdict and reason. */
function openIn(rows: readonly Row[]): readonly string[] {
  return rows
    .filter(({ verdict }) => isPending(verdict) || verdict === "backoff" || verdict === "held")
    .slice(0, MOST_NAMED)
    .map(
      ({ kind, place, verdict, reason }) =>
        `${kind} ${refText(place)}: ${verdict}, ${reasonText(reason)}`,
    );
}
