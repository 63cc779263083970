// The HTTP part of requests and answers, and the paths without an object: health, version, discovery,
// OpenAPI.
import type { IncomingMessage, ServerResponse } from "node:http";
import { mostBodyBytes } from "./body.ts";
import { discover, isServed } from "./discovery.ts";
import { openapi } from "./openapi.ts";
import { aggregatedDiscoveryType, wantsAggregatedDiscovery } from "./negotiation.ts";
import type { ServedResource } from "../kinds/resources.ts";
import type { Json } from "../storage/object.ts";
import { methodNotAllowed, noSuchPath, tooLargeBody } from "../storage/status.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/;

/** The whole body. Throws a 413 when it is longer than the real server reads. */
export async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    length += chunk.length;
    if (length > mostBodyBytes) throw tooLargeBody(mostBodyBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers with JSON, or with text when `body` is a string. Returns `code`. */
export function send(
  response: ServerResponse,
  code: number,
  body: Json | string,
  headers: Headers = {},
): number {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  response.writeHead(code, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
  return code;
}

/** Answers a GET of a path without an object and returns the code. Throws where the answer is a Status. */
export function sendUnnamed(
  request: { readonly method: string; readonly path: string; readonly accept: string | undefined },
  response: ServerResponse,
  rows: readonly ServedResource[],
): number {
  const { path, accept } = request;
  if (healthPaths.test(path)) return send(response, 200, "ok");
  const aggregated = wantsAggregatedDiscovery(accept);
  const found = path.startsWith("/openapi/")
    ? openapi(path, rows)
    : discover(path.replace(/\/$/, ""), aggregated, rows);
  if (found === undefined && isServed(path, rows)) throw noSuchPath();
  if (found === undefined) return send(response, 404, "404 page not found\n");
  if (request.method !== "GET") throw methodNotAllowed();
  const isAggregated = found["kind"] === "APIGroupDiscoveryList";
  const headers = isAggregated ? { "content-type": aggregatedDiscoveryType } : {};
  return send(response, 200, found, headers);
}
