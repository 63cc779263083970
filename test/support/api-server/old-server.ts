// A real API server as one that knows no streaming lists answers (before 1.32, or with WatchList off):
// everything passes through to it under the given token, but `sendInitialEvents` is refused.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import type { ClusterAccess } from "./control-plane.ts";

const INVALID = JSON.stringify({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  message: 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: disabled',
  reason: "Invalid",
  code: 422,
});

export type OldServer = { readonly url: string; readonly close: () => Promise<void> };

export async function openOldServer(access: ClusterAccess, token: string): Promise<OldServer> {
  const server = passThrough(access, token);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

function passThrough(access: ClusterAccess, token: string): Server {
  const ca = readFileSync(access.caFile, "utf8");
  return createServer((incoming, outgoing) => {
    const { method, url = "/" } = incoming;
    const { host: _, ...headers } = incoming.headers;
    if (url.includes("sendInitialEvents=true")) {
      incoming.resume();
      outgoing.writeHead(422, { "content-type": "application/json" }).end(INVALID);
      return;
    }
    const authorization = `Bearer ${token}`;
    const options = { method, ca, headers: { ...headers, authorization } };
    const upstream = request(`${access.url}${url}`, options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });
}
