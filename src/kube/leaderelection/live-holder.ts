// Is somebody else's Lease live? Times in a Lease are another machine's clock, so they are not
// believed: a Lease is live when it changes while we look at it for as long as it says it lasts.
// Promises: ends with the signal, and after a minute at most, whatever the Lease says.
import { sleep, type Clock } from "../time/clock.ts";
import { ApiError } from "../rest/api-error.ts";
import type { LeaseClient } from "./lease-lock.ts";
import type { Lease } from "./lease-record.ts";

const LOOK_EVERY_MS = 1000;
const USUAL_S = 15;
const LONGEST_LOOK_MS = 60_000;

export type LiveHolderOptions = {
  readonly client: Pick<LeaseClient, "get">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A Lease names a holder: whether it lives is looked at for so many milliseconds. */
  readonly onFound: (holder: string, forMs: number) => void;
};

/** The identity of a live holder, or undefined: no Lease, nobody in it, or it is not renewed. */
export async function liveHolder(options: LiveHolderOptions): Promise<string | undefined> {
  const { clock, signal } = options;
  const first = await read(options);
  const holder = first?.spec?.holderIdentity;
  if (!first || !holder) return undefined;
  const seconds = first.spec?.leaseDurationSeconds ?? 0;
  const lastsMs = Math.min((seconds > 0 ? seconds : USUAL_S) * 1000, LONGEST_LOOK_MS);
  options.onFound(holder, lastsMs);
  const deadline = clock.monotonic() + lastsMs;
  while (clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, LOOK_EVERY_MS, signal);
    const seen = await read(options);
    if (!seen?.spec?.holderIdentity) return undefined;
    if (seen.metadata.resourceVersion !== first.metadata.resourceVersion)
      return seen.spec.holderIdentity;
  }
  return undefined;
}

async function read({ client, signal }: LiveHolderOptions): Promise<Lease | undefined> {
  try {
    return await client.get(signal);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "notFound") return undefined;
    throw error;
  }
}
