// Passes connections on to an API server and counts the bytes of its answers, as they are under TLS.
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import type { How } from "./scorecard.ts";

export type ByteRelay = {
  /** A kubeconfig that leads through the relay. */
  readonly kubeconfig: string;
  /** Bytes that the API server sent so far. */
  readonly bytes: () => number;
};

/** `url`: the API server in `kubeconfig`. */
export async function relayed(how: How, kubeconfig: string, url: string): Promise<ByteRelay> {
  let bytes = 0;
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on("data", (chunk: Buffer) => (bytes += chunk.length));
    upstream.pipe(client).pipe(upstream);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    how.after(end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  how.after(() => server.close());
  const own = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(dirname(kubeconfig), "relayed.kubeconfig");
  writeFileSync(file, readFileSync(kubeconfig, "utf8").replaceAll(url, own), { mode: 0o600 });
  return { kubeconfig: file, bytes: () => bytes };
}
