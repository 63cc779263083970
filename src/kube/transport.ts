// Connections to one API server: a pool for requests and an agent for watches, shared by all calls,
// HTTP/1.1 on purpose (a half-open HTTP/2 session takes every stream with it and no abort frees it).
// New TLS material makes new agents; the old ones end when their last answer has ended.
import { Agent, ProxyAgent } from "undici";
import type { Dispatcher } from "undici";
import type { Tls } from "./credentials.ts";

export type Lane = "api" | "watch";

export type TransportOptions = {
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  /** Connections for requests at most; watches have as many as they need. */
  readonly connections: number;
};

const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

type Agents = { readonly tls: Tls } & Record<Lane, Dispatcher>;

export class Transport {
  readonly #options: TransportOptions;
  readonly #retiring = new Set<Dispatcher>();
  #agents: Agents | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    if (options.proxyUrl !== undefined) checkProxy(options.proxyUrl);
  }

  dispatcher(lane: Lane, tls: Tls): Dispatcher {
    if (this.#agents && !sameTls(this.#agents.tls, tls)) {
      this.#retire(this.#agents.api);
      this.#retire(this.#agents.watch);
      this.#agents = undefined;
    }
    this.#agents ??= { tls, api: this.#agent("api", tls), watch: this.#agent("watch", tls) };
    return this.#agents[lane];
  }

  /** Ends every connection now, with whatever runs on it. */
  async close(): Promise<void> {
    const agents = this.#agents ? [this.#agents.api, this.#agents.watch] : [];
    this.#agents = undefined;
    await Promise.all([...agents, ...this.#retiring].map((agent) => agent.destroy()));
  }

  /**
   * A request on `used` was not answered in time: its other connections may be dead as well, so what
   * comes next gets new ones. No-op when that has happened already.
   */
  distrust(lane: Lane, used: Dispatcher): void {
    if (this.#agents?.[lane] !== used) return;
    this.#agents[lane] = this.#agent(lane, this.#agents.tls);
    this.#retire(used);
  }

  #retire(agent: Dispatcher): void {
    this.#retiring.add(agent);
    const gone = (): void => void this.#retiring.delete(agent);
    agent.close().then(gone, gone);
  }

  #agent(lane: Lane, tls: Tls): Dispatcher {
    const { proxyUrl, server, connections } = this.#options;
    const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // Each request brings a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(lane === "api" && { connections }),
    };
    if (proxyUrl === undefined) return new Agent({ ...options, connect });
    return new ProxyAgent({
      ...options,
      uri: proxyUrl,
      requestTls: { ...connect, allowH2: false },
      // Without a tunnel all requests to an http: server would share one connection.
      proxyTunnel: server.startsWith("http:") || undefined,
    } as ProxyAgent.Options);
  }
}

function checkProxy(proxyUrl: string): void {
  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : "";
  if (!["http:", "https:", "socks:", "socks5:"].includes(protocol))
    throw new Error(
      `proxy-url of the cluster must begin with http://, https:// or socks5://, not "${protocol}"`,
    );
}

function sameTls(a: Tls, b: Tls): boolean {
  return (
    sameBytes(a.ca, b.ca) &&
    sameBytes(a.cert, b.cert) &&
    sameBytes(a.key, b.key) &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized
  );
}

function sameBytes(a: Buffer | string | undefined, b: Buffer | string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.from(a as string).equals(Buffer.from(b as string));
}
