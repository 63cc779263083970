// What a running controller serves: probes and metrics on one address, the status page on another.
import type { Config } from "../controller/settings/config.ts";
import type { Controller } from "../controller/sync/controller.ts";
import { systemClock } from "../kube/time/clock.ts";
import type { Log } from "../controller/report/log.ts";
import type { StatusFeed } from "../page/status-feed.ts";
import { serveHttp } from "./probes.ts";
import { urlOf } from "../page/listen.ts";
import type { Metrics } from "../controller/report/metrics.ts";
import { serveStatus } from "../page/status-server.ts";

export type Served = { readonly statusUrl: string; close(): Promise<unknown> };

/** Rejects with a one-line error if it cannot listen on one of the addresses. */
export async function serveAll(
  config: Config,
  controller: Controller,
  { registry }: Metrics,
  statusFeed: StatusFeed,
  log: Log,
): Promise<Served> {
  const probes = await serveHttp(config.httpAddress, controller, registry, systemClock);
  const { host, port } = probes.address;
  log.info({ address: `${host}:${port}` }, "serving probes and metrics");
  try {
    const page = await serveStatus(config.statusAddress, statusFeed, systemClock);
    const statusUrl = `${urlOf(page.address)}/`;
    log.info({ url: statusUrl }, "serving the status page");
    return { statusUrl, close: () => Promise.all([probes.close(), page.close()]) };
  } catch (error) {
    await probes.close();
    throw error;
  }
}
