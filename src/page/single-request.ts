// A connection that carries one request. Node parses all requests that a client sends at once before the first
// one is answered, 64 KiB of them at a time. Some clients with 20,000 each block the event loop for seconds.
// Everything after the first request's head, also a body, is therefore discarded before Node sees it.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Clock } from "../../packages/kube/time/clock.ts";

const END_OF_HEAD = Buffer.from("\r\n\r\n");
// A probe sends its request in one packet.
const HEAD_MS = 5000;
// For a client that reads nothing. The status page's live updates send something every five seconds.
const INACTIVE_MS = 30_000;

export class SingleRequest extends Duplex {
  readonly #socket: Socket;
  /** The start of a possible end of the head. Undefined after the head. */
  #tail: Buffer | undefined = Buffer.alloc(0);

  constructor(socket: Socket, clock: Clock) {
    super();
    this.#socket = socket;
    const late = clock.setTimeout(() => socket.destroy(), HEAD_MS);
    socket.setTimeout(INACTIVE_MS, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      this.#take(chunk);
      if (!this.#tail) late.cancel();
    });
    // Clients often break connections. The connection only has to close.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      late.cancel();
      this.destroy();
    });
  }

  #take(chunk: Buffer): void {
    if (!this.#tail) return;
    const before = this.#tail.length;
    const seen = Buffer.concat([this.#tail, chunk]);
    const end = seen.indexOf(END_OF_HEAD);
    this.#tail = end === -1 ? seen.subarray(1 - END_OF_HEAD.length) : undefined;
    this.push(end === -1 ? chunk : chunk.subarray(0, end + END_OF_HEAD.length - before));
  }

  // The socket pushes.
  override _read(): void {}

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.destroySoon();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
