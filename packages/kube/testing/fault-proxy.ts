// An HTTP proxy on loopback that stands before any API server and does to its answers what networks,
// proxies and overloaded servers do. Each request asks `rule` for a fault; all else passes unchanged.
// Faults of the connection itself (reset, silence) are those of real TCP sockets.
import { Agent, createServer, request as httpRequest } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { answer } from "./http-server.ts";

export type Upstream = {
  readonly url: string;
  /** Sent with every request, such as the credentials of a real server. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: string;
  /** Connections to the server are kept; otherwise each request has one of its own. */
  readonly keepAlive?: boolean;
};

export type ProxyRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly kind: "list" | "watch" | "stream" | "other";
};

/** A request that changes something, with its body, and the status of the server's answer. */
export type ProxyWrite = Pick<ProxyRequest, "method" | "path" | "query"> & {
  readonly body: string;
  readonly status: number;
};

export type Fault =
  /** An answer of the proxy's own; the server never hears of the request. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** RST before any answer. */
  | { readonly kind: "reset" }
  /** The connection ends after so many bytes of the body, without an end of the answer. */
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** After so many bytes of the body nothing comes any more, and no FIN. */
  | { readonly kind: "silence"; readonly afterBytes: number }
  /** The body comes in pieces of so many bytes, one each turn of the event loop. */
  | { readonly kind: "slow"; readonly bytes: number }
  /** The answer to another query: what a server does that does not know a parameter. */
  | { readonly kind: "rewrite"; readonly query: Readonly<Record<string, string | undefined>> };

export type FaultProxy = {
  readonly url: string;
  readonly seen: readonly ProxyRequest[];
  /** The fault for each request from now on; undefined lets it pass. */
  rule: (request: ProxyRequest) => Fault | undefined;
  /** Told of every write that the server answered. */
  onWrite: (write: ProxyWrite) => void;
  /** Text put into every watch that is open, between two lines. */
  inject(text: string): void;
  /** RST on every connection. */
  resetAll(): void;
  /** Every connection there is goes silent for ever; new ones are fine. */
  freeze(): void;
  /** As freeze, but only of the connections whose last request was one of these. */
  deafen(of: (request: ProxyRequest) => boolean): void;
  /** Empties `seen`, so that a long run does not fill the memory. */
  forget(): void;
  /** TCP connections of the client that are open. */
  readonly connections: number;
};

/** A test, or whoever else knows when it is over. */
export type Ending = { after(end: () => Promise<void>): void };

/** Gone, with all its connections, when the test ends. */
export async function startFaultProxy(t: Ending, upstream: Upstream): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  const watches = new Set<ServerResponse>();
  const last = new Map<Socket, ProxyRequest>();
  const seen: ProxyRequest[] = [];
  const forwarder = new Forwarder(upstream, {
    onWatch: (response) => {
      watches.add(response);
      response.once("close", () => watches.delete(response));
    },
    onWrite: (write) => proxy.onWrite(write),
  });
  const server = createServer((request, response) => {
    const asked = read(request);
    seen.push(asked);
    last.set(request.socket, asked);
    if (frozen.has(request.socket)) return;
    const fault = proxy.rule(asked);
    if (fault?.kind === "answer") {
      const { status, headers, body = {} } = fault;
      answer(response, status, body, headers);
    } else if (fault?.kind === "reset") reset(request.socket);
    else forwarder.forward(request, response, asked, fault, () => frozen.has(request.socket));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      last.delete(socket);
    });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    forwarder.close();
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    rule: () => undefined,
    onWrite: () => undefined,
    inject: (text) => {
      for (const response of watches) if (!response.writableEnded) response.write(text);
    },
    resetAll: () => {
      for (const socket of sockets) reset(socket);
    },
    freeze: () => {
      for (const socket of sockets) frozen.add(socket);
    },
    deafen: (of) => {
      for (const [socket, request] of last) if (of(request)) frozen.add(socket);
    },
    forget: () => void seen.splice(0),
    get connections() {
      return sockets.size;
    },
  };
  return proxy;
}

// More than the API server reads of any request.
const MOST_TOLD_BYTES = 8 * 2 ** 20;

type Listener = {
  onWatch(response: ServerResponse): void;
  onWrite(write: ProxyWrite): void;
};

class Forwarder {
  readonly #upstream: Upstream;
  readonly #agent: Agent;
  readonly #listener: Listener;

  constructor(upstream: Upstream, listener: Listener) {
    const { url, ca, keepAlive = false } = upstream;
    this.#upstream = upstream;
    this.#listener = listener;
    this.#agent = url.startsWith("https:")
      ? new TlsAgent({ keepAlive, ...(ca !== undefined && { ca }) })
      : new Agent({ keepAlive });
  }

  forward(
    request: IncomingMessage,
    response: ServerResponse,
    asked: ProxyRequest,
    fault: Fault | undefined,
    isFrozen: () => boolean,
  ): void {
    const url = new URL(this.#upstream.url + pathOf(asked, fault));
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const headers = { ...request.headers, ...this.#upstream.headers, host: url.host };
    const outgoing = send(url, { agent: this.#agent, method: asked.method, headers });
    outgoing.on("error", () => request.socket.destroy());
    outgoing.on("response", (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, withoutLength(incoming, fault));
      response.flushHeaders();
      if (asked.kind === "watch" || asked.kind === "stream") this.#listener.onWatch(response);
      if (body) this.#tellWrite(asked, body, incoming.statusCode ?? 0);
      void pump(incoming, response, fault, isFrozen);
    });
    const drop = (): void => void outgoing.destroy();
    request.socket.once("close", drop);
    response.once("close", () => request.socket.off("close", drop));
    const body = asked.method === "GET" ? undefined : ([] as Buffer[]);
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MOST_TOLD_BYTES) body?.push(chunk);
    });
    request.pipe(outgoing);
  }

  #tellWrite(
    { method, path, query }: ProxyRequest,
    chunks: readonly Buffer[],
    status: number,
  ): void {
    const body = Buffer.concat(chunks).toString("utf8");
    this.#listener.onWrite({ method, path, query, body, status });
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function pump(
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
  isFrozen: () => boolean,
): Promise<void> {
  const limit = fault?.kind === "cut" || fault?.kind === "silence" ? fault.afterBytes : Infinity;
  let sent = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      if (isFrozen() || sent >= limit) continue;
      const piece = chunk.subarray(0, limit - sent);
      sent += piece.length;
      const step = fault?.kind === "slow" ? fault.bytes : piece.length;
      for (let at = 0; at < piece.length; at += step) {
        const last = fault?.kind === "cut" && sent >= limit;
        response.write(piece.subarray(at, at + step), () => last && response.destroy());
        if (fault?.kind === "slow") await setImmediate();
      }
    }
    if (!isFrozen() && sent < limit) response.end();
  } catch {
    if (!isFrozen() && fault?.kind !== "silence") response.destroy();
  }
}

// Node 24 spins for ever at the process's end over a socket that was reset while its end was being
// sent: such a socket is closed instead.
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function read(request: IncomingMessage): ProxyRequest {
  const url = new URL(request.url ?? "/", "http://proxy");
  const query = url.searchParams;
  const method = request.method ?? "GET";
  const isCollection = /\/(?:secrets|configmaps|namespaces)$/.test(url.pathname);
  const watching = query.get("sendInitialEvents") === "true" ? "stream" : "watch";
  const listing = method === "GET" && isCollection ? "list" : "other";
  return { method, path: url.pathname, query, kind: query.has("watch") ? watching : listing };
}

function pathOf(asked: ProxyRequest, fault: Fault | undefined): string {
  const query = new URLSearchParams(asked.query);
  for (const [name, value] of Object.entries(fault?.kind === "rewrite" ? fault.query : {}))
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  return query.size > 0 ? `${asked.path}?${query.toString()}` : asked.path;
}

// A body that may end early is sent in chunks, so that its end is not announced.
function withoutLength(incoming: IncomingMessage, fault: Fault | undefined): IncomingHttpHeaders {
  const headers = { ...incoming.headers };
  if (fault?.kind === "cut" || fault?.kind === "silence") delete headers["content-length"];
  return headers;
}
