// What a running controller serves: /healthz, /readyz and /metrics for the kubelet and Prometheus on one address,
// the status page on another. Read only. The answer of a probe names a problem. The address and a network policy
// decide which clients may reach it. Nothing served here contains a Secret's value.
import type { ServerResponse } from "node:http";
import type { Log } from "../controller/report/log.ts";
import type { Metrics } from "../controller/report/metrics.ts";
import type { Config } from "../controller/settings/config.ts";
import type { Address } from "../controller/settings/flags.ts";
import { systemClock, type Clock } from "../../packages/kube/time/clock.ts";
import { endWith, listenOn, targetOf, urlOf, type HttpServer } from "../page/listen.ts";
import type { StatusFeed } from "../page/status-feed.ts";
import { serveStatus } from "../page/status-server.ts";

/** Problems as text. Empty means healthy. */
export type Health = { live(): readonly string[]; ready(): readonly string[] };
export type Scrape = { readonly contentType: string; metrics(): Promise<string> };

// Rendering takes 2 ms of the only thread, so it must not be done for each request.
const METRICS_FRESH_MS = 1000;

/** Rejects with a one-line error if it cannot listen on the address. */
export async function serveHttp(
  address: Address,
  health: Health,
  scrape: Scrape,
  clock: Clock,
): Promise<HttpServer> {
  const metrics = sharedMetrics(scrape, clock);
  return listenOn(address, clock, (request, response) => {
    const { path } = targetOf(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      endWith(response, 405, "only GET is served here\n");
    } else if (path === "/healthz") probe(response, health.live());
    else if (path === "/readyz") probe(response, health.ready());
    else if (path === "/metrics")
      metrics().then(
        (text) => endWith(response, 200, text, scrape.contentType),
        () => endWith(response, 500, "the metrics could not be read\n"),
      );
    else endWith(response, 404, "not found: /healthz, /readyz and /metrics are served here\n");
  });
}

/** Renders at most once a second. All clients of that second share the text, in memory too. */
function sharedMetrics(scrape: Scrape, clock: Clock): () => Promise<Buffer> {
  let last: { readonly at: number; readonly text: Promise<Buffer> } | undefined;
  return () => {
    const at = clock.monotonic();
    if (!last || at - last.at >= METRICS_FRESH_MS)
      last = { at, text: scrape.metrics().then((text) => Buffer.from(text)) };
    return last.text;
  };
}

function probe(response: ServerResponse, problems: readonly string[]): void {
  if (problems.length === 0) endWith(response, 200, "ok\n");
  else endWith(response, 503, `${problems.join("\n")}\n`);
}

export type Served = { readonly statusUrl: string; close(): Promise<unknown> };

/** Rejects with a one-line error if it cannot listen on one of the addresses. */
export async function serveAll(
  config: Config,
  health: Health,
  { registry }: Metrics,
  statusFeed: StatusFeed,
  log: Log,
): Promise<Served> {
  const probes = await serveHttp(config.httpAddress, health, registry, systemClock);
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
