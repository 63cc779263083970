// A listening server and its orderly end, the same for every address that the program serves on.
import type { IncomingMessage, Server } from "node:http";
import type { Address } from "../config/config.ts";

export type HttpServer = { readonly address: Address; close(): Promise<void> };

/** Rejects with a one-line error when the address cannot be listened on. */
export async function listenOn(server: Server, address: Address): Promise<HttpServer> {
  const { host, port } = address;
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
        server.closeAllConnections();
      }),
  };
}

/** As a link or a log line has it: an IPv6 host in brackets. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A request's path and query. Anybody can send anything as a path, and `new URL` throws at some of it. */
export function targetOf(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = "/", ...query] = (request.url ?? "/").split("?");
  return { path, query: new URLSearchParams(query.join("?")) };
}
