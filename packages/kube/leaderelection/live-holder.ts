// Checks whether another holder's Lease is live. Times in a Lease come from another machine's clock, so they
// are not used. A Lease is live when it changes while we watch it for its own duration.
// Promises: ends with the signal, and after a minute at most, whatever the Lease says.
import { sleep, type Clock } from "../time/clock.ts";
import type { LeaseClient } from "./elector-options.ts";
import { existing } from "./lease-lock.ts";
import type { Lease } from "./lease-record.ts";

const LOOK_EVERY_MS = 1000;
const USUAL_S = 15;
const LONGEST_LOOK_MS = 60_000;

export type LiveHolderOptions = {
  readonly client: Pick<LeaseClient, "get">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A Lease names a holder. It is watched for `forMs` milliseconds to see whether it is live. */
  readonly onFound: (holder: string, forMs: number) => void;
};

/** Returns the identity of a live holder. Undefined if there is no Lease, no holder or no renewal. */
export async function liveHolder(options: LiveHolderOptions): Promise<string | undefined> {
  const { client, clock, signal } = options;
  const read = (): Promise<Lease | undefined> => existing(client.get(signal));
  const first = await read();
  const holder = first?.spec?.holderIdentity;
  if (!first || !holder) return undefined;
  const seconds = first.spec?.leaseDurationSeconds ?? 0;
  const lastsMs = Math.min((seconds > 0 ? seconds : USUAL_S) * 1000, LONGEST_LOOK_MS);
  options.onFound(holder, lastsMs);
  const deadline = clock.monotonic() + lastsMs;
  while (clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, LOOK_EVERY_MS, signal);
    const seen = await read();
    if (!seen?.spec?.holderIdentity) return undefined;
    if (seen.metadata.resourceVersion !== first.metadata.resourceVersion)
      return seen.spec.holderIdentity;
  }
  return undefined;
}
