// The kubelet's side of a port-forward: a WebSocket of `v4.channel.k8s.io` whose data channel is bridged
// to a port of this machine. As little of RFC 6455 as that needs.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const PROTOCOL = "v4.channel.k8s.io";

/** Answers the upgrade; `port`: what "the pod" listens on, whichever was asked for. */
export function bridge(request: IncomingMessage, socket: Duplex, port: number): void {
  const key = String(request.headers["sec-websocket-key"]);
  const accept = createHash("sha1")
    .update(key + MAGIC)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${PROTOCOL}\r\n\r\n`,
  );
  const asked = new URL(request.url ?? "/", "http://x").searchParams;
  const greeting = Buffer.alloc(2);
  greeting.writeUInt16LE(Number(asked.get("ports") ?? asked.get("port")));
  const send = (channel: number, bytes: Buffer): void =>
    void socket.write(frame(Buffer.concat([Buffer.of(channel), bytes])));
  send(0, greeting);
  send(1, greeting);
  const there = connect(port, "127.0.0.1");
  there.on("data", (bytes) => send(0, bytes));
  there.on("error", (error) => send(1, Buffer.from(error.message)));
  there.on("end", () => socket.end(Buffer.from([0x88, 0])));
  let pending = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    for (let next = unframe(pending); next; next = unframe(pending)) {
      pending = pending.subarray(next.length);
      if (next.opcode === 8) {
        there.destroy();
        socket.end(Buffer.from([0x88, 0]));
      }
      if (next.opcode <= 2 && next.payload[0] === 0) there.write(next.payload.subarray(1));
    }
  });
  socket.on("error", () => there.destroy());
  socket.on("close", () => there.destroy());
}

function frame(payload: Buffer): Buffer {
  const { length } = payload;
  const long = length > 125;
  const head = Buffer.alloc(long ? 10 : 2);
  head[0] = 0x82;
  head[1] = long ? 127 : length;
  if (long) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

type Frame = { readonly opcode: number; readonly payload: Buffer; readonly length: number };

/** The first frame, which a client masks; undefined: not all of it is there. */
function unframe(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const at = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < at + 4) return undefined;
  const size =
    short === 126
      ? bytes.readUInt16BE(2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short;
  const length = at + 4 + size;
  if (bytes.length < length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, length));
  for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % 4] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload, length };
}
