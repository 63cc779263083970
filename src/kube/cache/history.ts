// Whether the server still has the history that a reflector has followed. It has not after etcd was
// restored from a backup: then the versions of its objects are lower, and a watch from a version that
// is still to come is accepted and stays silent.
// Promises: an event or a bookmark below what was followed ends the round; so does, after a connection
// that ended otherwise than by the watch's own time limit, a list of one object that is behind: it is
// asked for when the new watch has said nothing for twenty seconds. A watch that ends by its own time
// limit asks for nothing. Does not promise to find out when the new history has meanwhile become
// longer than the old one: versions that go back elsewhere (the Lease's) tell, by way of distrust().
import { ApiError } from "../rest/api-error.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { sleep } from "../time/clock.ts";
import type { Clock } from "../time/clock.ts";
import { currentVersion } from "./list.ts";
import { describeScope } from "./list-scope.ts";
import type { ListScope } from "./list-scope.ts";
import { compareVersions } from "../rest/resource.ts";

const SILENCE_MS = 20_000;

export type HistoryOptions = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly scope: ListScope;
};

export class History {
  readonly #options: HistoryOptions;
  #round: AbortController | undefined;
  /** Where the round began; undefined: with a list. */
  #followed: string | undefined;
  #doubtful = false;
  #wentBack = false;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The last connection ended otherwise than by the watch's own time limit. */
  doubt(): void {
    this.#doubtful = true;
  }

  /** The server has taken the round's watch. */
  opened(): void {
    if (this.#round && this.#followed !== undefined && this.#doubtful)
      void this.#check(this.#followed, this.#round.signal);
  }

  /** `next` was heard after `version`. Throws when it is older. */
  heard(next: string, version: string | undefined): void {
    if (version !== undefined && compareVersions(next, version) < 0) throw this.#error();
    this.#doubtful = false;
  }

  /** The history is another, as somebody else found: ends the round that follows it, if any. */
  distrust(): void {
    this.#wentBack = true;
    this.#round?.abort();
  }

  /**
   * Runs one round of list and watch under a signal of its own. Rejects when it is found that the
   * server is behind `version`; undefined: the round begins with a list.
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
      if (signal.aborted || !this.#doubtful) return;
      const now = await currentVersion({ ...this.#options, signal }).catch(() => undefined);
      if (now === undefined) continue;
      if (compareVersions(now, version) < 0) return this.distrust();
      this.#doubtful = false;
    }
  }

  // As a 410: what was followed is no longer there to be followed.
  #error(): ApiError {
    const note = "the server's versions are lower than those that it told before";
    return new ApiError(`watch ${describeScope(this.#options.scope)}`, {
      kind: "gone",
      reason: "VersionWentBack",
      note,
    });
  }
}
