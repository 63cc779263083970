// Is somebody else's Lease live? Times in a Lease are another machine's clock, so they are not
// believed: a Lease is live when it changes while we look at it for as long as it says it lasts.
import type { V1Lease } from "@kubernetes/client-node";
import type { Config } from "../../config/config.ts";
import { ApiError } from "../rest/api-error.ts";
import type { ApiClient } from "../rest/client.ts";
import { sleep, type Clock } from "../time/clock.ts";
import { LEASES, resourcePath } from "../rest/resource.ts";
import type { Log } from "../../telemetry/log.ts";

const LOOK_EVERY_MS = 1000;
const LONGEST_LOOK_MS = 60_000;

/** The identity of a live holder, or undefined: no Lease, nobody in it, or it is not renewed. */
export async function liveHolder(
  client: ApiClient,
  config: Pick<Config, "leaseNamespace" | "leaseName">,
  signal: AbortSignal,
  clock: Clock,
  log: Log,
): Promise<string | undefined> {
  const first = await read(client, config, signal);
  const holder = first?.spec?.holderIdentity;
  if (!first || !holder) return undefined;
  const lastsMs = Math.min((first.spec?.leaseDurationSeconds ?? 15) * 1000, LONGEST_LOOK_MS);
  log.info({ holder, seconds: lastsMs / 1000 }, "found a Lease, looking whether its holder lives");
  const deadline = clock.monotonic() + lastsMs;
  while (clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, LOOK_EVERY_MS, signal);
    const seen = await read(client, config, signal);
    if (!seen?.spec?.holderIdentity) return undefined;
    if (seen.metadata?.resourceVersion !== first.metadata?.resourceVersion)
      return seen.spec.holderIdentity;
  }
  return undefined;
}

async function read(
  client: ApiClient,
  { leaseNamespace, leaseName }: Pick<Config, "leaseNamespace" | "leaseName">,
  signal: AbortSignal,
): Promise<V1Lease | undefined> {
  try {
    return await client.request<V1Lease>({
      method: "GET",
      path: resourcePath(LEASES, leaseNamespace, leaseName),
      what: `get lease ${leaseNamespace}/${leaseName}`,
      signal,
    });
  } catch (error) {
    if (error instanceof ApiError && error.kind === "notFound") return undefined;
    throw error;
  }
}
