// One connection to a port on a pod's loopback, through the API server (pods/portforward). It uses the
// WebSocket protocol that every supported version speaks: binary messages whose first byte is the channel, 0
// for data and 1 for the error. Each channel begins with the port as two bytes.
// Promises: a Duplex of the bytes that the port receives and sends. It ends when either side ends. An error is
// one line that repeats nothing of the transferred data.
import { Duplex } from "node:stream";
import type { WebSocket } from "undici";
import { CredentialCache } from "../kubeconfig/credentials.ts";
import type { KubeConfig } from "../kubeconfig/kubeconfig.ts";
import { Transport } from "../connections/transport.ts";
import type { Clock } from "../time/clock.ts";
import { Deadline } from "../time/deadline.ts";

export type ForwardedPort = {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
};

const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
const ERROR = 1;
const PORT_BYTES = 2;
const OPEN_TIMEOUT_MS = 10_000;

export type PortForwardOptions = { readonly clock: Clock; readonly signal: AbortSignal };

/** Rejects when it cannot be opened in time. Destroying the stream closes its connection. */
export async function forwardPort(
  config: KubeConfig,
  { namespace, pod, port }: ForwardedPort,
  { clock, signal }: PortForwardOptions,
): Promise<Duplex> {
  const { server, proxyUrl } = config.cluster;
  // Loaded here, so that other commands do not load this half of undici.
  const undici = await import("undici");
  const { headers, tls } = await new CredentialCache(config, clock).get();
  const transport = new Transport({ server, proxyUrl, connections: 1 });
  const base = server.replace(/^http/, "ws").replace(/\/$/, "");
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`;
  const socket = new undici.WebSocket(`${base}${path}?ports=${port}`, {
    protocols: PROTOCOL,
    dispatcher: transport.dispatcher("watch", tls),
    headers: Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    ),
  });
  socket.binaryType = "arraybuffer";
  const stream = new ForwardedStream(socket, () => void transport.close());
  try {
    await opened(socket, clock, signal);
    return stream;
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

function opened(socket: WebSocket, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadline = new Deadline(clock, OPEN_TIMEOUT_MS, signal);
  return new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`the port-forward ${why}`));
    deadline.whenOver(() => fail(deadline.expired ? "was not answered in time" : "was stopped"));
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => fail("was refused"));
    socket.addEventListener("close", () => fail("was closed"));
  }).finally(() => deadline.release());
}

class ForwardedStream extends Duplex {
  readonly #socket: WebSocket;
  readonly #ended: () => void;
  /** For each channel, the number of port bytes that have arrived. */
  readonly #greeted = [0, 0];

  constructor(socket: WebSocket, ended: () => void) {
    super();
    this.#socket = socket;
    this.#ended = ended;
    // The caller reports failures before the connection is open.
    this.on("error", () => undefined);
    socket.addEventListener("message", ({ data }) => this.#received(data));
    socket.addEventListener("close", () => this.push(null));
    socket.addEventListener("error", () => this.destroy(new Error("the port-forward broke")));
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#socket.send(Buffer.concat([Buffer.of(DATA), chunk]));
    done();
  }

  override _final(done: () => void): void {
    // The channel closes when the other side has finished. It cannot be half closed.
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.close();
    this.#ended();
    done(error);
  }

  #received(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || data.byteLength === 0) return;
    const bytes = Buffer.from(data);
    const channel = bytes[0] ?? DATA;
    const before = this.#greeted[channel] ?? 0;
    const skipped = Math.min(PORT_BYTES - before, bytes.length - 1);
    this.#greeted[channel] = before + skipped;
    const rest = bytes.subarray(1 + skipped);
    if (rest.length === 0) return;
    if (channel === ERROR) this.destroy(new Error("the pod does not listen on that port"));
    else this.push(rest);
  }
}
