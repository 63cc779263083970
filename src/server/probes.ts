// /healthz, /readyz and /metrics for the kubelet and Prometheus. Read only; a problem is named in the
// answer's text. It promises nothing about who may reach it: that is the address's and a network
// policy's part, and nothing served here holds a Secret's value.
import { createServer, type ServerResponse } from "node:http";
import type { Address } from "../config/config.ts";
import { listenOn, targetOf, type HttpServer } from "./listen.ts";

/** Problems in plain words; empty means all is well. */
export type Health = { live(): readonly string[]; ready(): readonly string[] };
export type Scrape = { readonly contentType: string; metrics(): Promise<string> };

/** Rejects with a one-line error when the address cannot be listened on. */
export async function serveHttp(
  address: Address,
  health: Health,
  scrape: Scrape,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      answer(response, 405, "only GET is served here\n");
      return;
    }
    void route(targetOf(request).path, response, health, scrape);
  });
  return listenOn(server, address);
}

async function route(
  path: string,
  response: ServerResponse,
  health: Health,
  scrape: Scrape,
): Promise<void> {
  if (path === "/healthz") probe(response, health.live());
  else if (path === "/readyz") probe(response, health.ready());
  else if (path === "/metrics") {
    response.setHeader("Content-Type", scrape.contentType);
    answer(response, 200, await scrape.metrics());
  } else answer(response, 404, "not found: /healthz, /readyz and /metrics are served here\n");
}

function probe(response: ServerResponse, problems: readonly string[]): void {
  if (problems.length === 0) answer(response, 200, "ok\n");
  else answer(response, 503, `${problems.join("\n")}\n`);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  if (!response.hasHeader("Content-Type"))
    response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end(text);
}
