// Checks whether the server still has the history that a reflector has followed. After etcd is restored from a
// backup, the versions of its objects are lower. The server then accepts a watch from a future version and
// sends nothing.
// Promises: an event or a bookmark with a lower version than was followed ends the round. After a connection
// that did not end by the watch's own time limit, a list of one object is also compared. It is requested when
// the new watch has been silent for twenty seconds. A watch that ends by its own time limit causes no request.
// Does not promise to notice a new history that is already longer than the old one. Versions that decrease
// elsewhere (the Lease's) reveal it: see invalidate().
import { ApiError } from "../rest/api-error.ts";
import { sleep } from "../time/clock.ts";
import { currentVersion } from "./list.ts";
import { describeScope } from "./list-scope.ts";
import type { ReflectorOptions } from "./informer-options.ts";
import { compareVersions } from "../rest/resource.ts";

const SILENCE_MS = 20_000;

type HistoryOptions = Pick<ReflectorOptions<never>, "client" | "clock" | "scope">;

export class History {
  readonly #options: HistoryOptions;
  #round: AbortController | undefined;
  /** Version from which the round began. Undefined if it began with a list. */
  #followed: string | undefined;
  #suspect = false;
  #wentBack = false;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The last connection did not end by the watch's own time limit. */
  suspect(): void {
    this.#suspect = true;
  }

  /** The server accepted the round's watch. */
  opened(): void {
    if (this.#round && this.#followed !== undefined && this.#suspect)
      void this.#check(this.#followed, this.#round.signal);
  }

  /** The version `next` arrived after `version`. Throws when it is older. */
  arrived(next: string, version: string | undefined): void {
    if (version !== undefined && compareVersions(next, version) < 0) throw this.#error();
    this.#suspect = false;
  }

  /** Another component found that the history changed. Ends the round that follows the old one, if any. */
  invalidate(): void {
    this.#wentBack = true;
    this.#round?.abort();
  }

  /**
   * Runs one round of list and watch under a signal of its own. Rejects when the server proves to be behind
   * `version`. Undefined means that the round begins with a list.
   */
  async during<T>(
    signal: AbortSignal,
    version: string | undefined,
    round: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const end = (): void => own.abort();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    this.#wentBack = false;
    this.#round = own;
    this.#followed = version;
    try {
      return await round(own.signal);
    } catch (error) {
      throw this.#wentBack && !signal.aborted ? this.#error() : error;
    } finally {
      this.#round = undefined;
      signal.removeEventListener("abort", end);
      own.abort();
    }
  }

  async #check(version: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, SILENCE_MS, signal);
      if (signal.aborted || !this.#suspect) return;
      const now = await currentVersion({ ...this.#options, signal }).catch(() => undefined);
      if (now === undefined) continue;
      if (compareVersions(now, version) < 0) return this.invalidate();
      this.#suspect = false;
    }
  }

  // Treated as a 410: the history that was followed no longer exists.
  #error(): ApiError {
    const note = "the server's versions are lower than those that it told before";
    return new ApiError(`watch ${describeScope(this.#options.scope)}`, {
      kind: "gone",
      reason: "VersionWentBack",
      note,
    });
  }
}
