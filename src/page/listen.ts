// A listening server and its orderly shutdown, shared by all addresses that the program serves on. Any Pod may
// reach an address, so this file limits the cost of connections. Each listener itself limits the cost of an
// answer.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { Address } from "../controller/settings/flags.ts";
import type { Clock } from "../../packages/kube/time/clock.ts";
import { OpenConnections } from "./connections.ts";
import { SingleRequest } from "./single-request.ts";

export type HttpServer = { readonly address: Address; close(): Promise<void> };

// One scraper, two probes and a few people need a handful. An idle connection costs 10 KiB.
const MOST_CONNECTIONS = 128;
// Proxies add tokens and traces. Node's own limit is twice as much.
const LONGEST_HEAD = 8 * 1024;

/**
 * Answers one request per connection, and closes it. Rejects with a one-line error if it cannot listen on the
 * address.
 */
export async function listenOn(
  { host, port }: Address,
  clock: Clock,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpServer> {
  const http = createServer({ maxHeaderSize: LONGEST_HEAD }, (request, response) => {
    response.setHeader("Connection", "close");
    answer(request, response);
  });
  const connections = new OpenConnections(MOST_CONNECTIONS);
  const server = createTcpServer({ noDelay: true }, (socket) => {
    connections.admit(socket);
    http.emit("connection", new SingleRequest(socket, clock));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot listen on ${host}:${port}: ${error.code ?? error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    address: { host, port: typeof bound === "object" && bound ? bound.port : 0 },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        connections.closeAll();
      }),
  };
}

/** The URL for links and log lines: an IPv6 host is in brackets. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A request's path and query. A client can send any text as a path, and `new URL` throws for some. */
export function targetOf(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = "/", ...query] = (request.url ?? "/").split("?");
  return { path, query: new URLSearchParams(query.join("?")) };
}

/** Ends a request with this status and body. */
export function endWith(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  type = "text/plain; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", type);
  response.end(body);
}
