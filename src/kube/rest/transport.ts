// Connections to one API server: a pool for requests and an agent for watches, shared by all calls,
// HTTP/1.1 on purpose (a half-open HTTP/2 session takes every stream with it and no abort frees it).
// Requests and watches share their TLS sessions: a burst's connections take up the one that the first
// list began, which saves most of their handshakes. New TLS material makes new agents; the old ones end when their last answer has ended.
import equal from "fast-deep-equal";
import type { Dispatcher, ProxyAgent as UndiciProxyAgent } from "undici";
import { Agent, buildConnector, ProxyAgent } from "./undici-parts.ts";
import type { Tls } from "../kubeconfig/credentials.ts";

export type Lane = "api" | "watch";

export type TransportOptions = {
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  /** Connections for requests at most; watches have as many as they need. */
  readonly connections: number;
};

/** Of TCP. */
const PROBE_AFTER_MS = 30_000;
// An API server ends a connection that was idle for 90 s; a request must not meet that end.
const IDLE_MS = 80_000;
const CONNECT_TIMEOUT_MS = 10_000;
const TCP = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

type Connector = ReturnType<typeof buildConnector>;
type Agents = { readonly tls: Tls; readonly connect: Connector } & Record<Lane, Dispatcher>;

export class Transport {
  readonly #options: TransportOptions;
  readonly #retiring = new Set<Dispatcher>();
  #agents: Agents | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    if (options.proxyUrl !== undefined) checkProxy(options.proxyUrl);
  }

  dispatcher(lane: Lane, tls: Tls): Dispatcher {
    if (this.#agents && !equal(this.#agents.tls, tls)) {
      this.#retire(this.#agents.api);
      this.#retire(this.#agents.watch);
      this.#agents = undefined;
    }
    this.#agents ??= this.#open(tls);
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
    const { tls, connect } = this.#agents;
    this.#agents[lane] = this.#agent(lane, tls, connect);
    this.#retire(used);
  }

  #retire(agent: Dispatcher): void {
    this.#retiring.add(agent);
    const gone = (): void => void this.#retiring.delete(agent);
    agent.close().then(gone, gone);
  }

  #open(tls: Tls): Agents {
    const connect = connector(tls);
    const agent = (lane: Lane): Dispatcher => this.#agent(lane, tls, connect);
    return { tls, connect, api: agent("api"), watch: agent("watch") };
  }

  #agent(lane: Lane, tls: Tls, connect: Connector): Dispatcher {
    const { proxyUrl, server, connections } = this.#options;
    const options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
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
      requestTls: { ...tls, ...TCP, allowH2: false },
      // Without a tunnel all requests to an http: server would share one connection.
      proxyTunnel: server.startsWith("http:") || undefined,
    } as UndiciProxyAgent.Options);
  }
}

/** Opens connections that resume the last TLS session, for as long as the connector is held. */
function connector(tls: Tls): Connector {
  const options = { ...tls, ...TCP, allowH2: false, timeout: CONNECT_TIMEOUT_MS };
  const open = buildConnector(options);
  // undici's cache holds its sessions weakly: they would be gone with the next garbage collection.
  const held: { session?: Buffer } = {};
  return (to, done) =>
    open(to, (...result) => {
      const [, socket] = result;
      socket?.on("session", (session: Buffer) => (held.session = session));
      done(...result);
    });
}

function checkProxy(proxyUrl: string): void {
  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : "";
  if (!["http:", "https:", "socks:", "socks5:"].includes(protocol))
    throw new Error(
      `the proxy (proxy-url of the cluster, else HTTPS_PROXY or HTTP_PROXY) must begin with http://, https:// or socks5://, not "${protocol}"`,
    );
}
