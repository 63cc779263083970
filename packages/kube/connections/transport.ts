// Connections to one API server: a pool for requests and an agent for watches, shared by all calls. They use
// HTTP/1.1 on purpose: a half-open HTTP/2 session takes every stream with it and no abort frees it. Requests
// and watches share their TLS sessions. The connections of a burst resume the session of the first list, which
// saves most of their handshakes. New TLS material creates new agents. The old ones end when their last answer
// has ended.
import { createSecureContext } from "node:tls";
import equal from "fast-deep-equal";
import type { Dispatcher, ProxyAgent as UndiciProxyAgent } from "undici";
import { Agent, buildConnector, ProxyAgent } from "./undici-parts.ts";
import type { Tls } from "../kubeconfig/credentials.ts";

export type ConnectionPool = "api" | "watch";

export type TransportOptions = {
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  /** Maximum connections for requests. Watches use as many as they need. */
  readonly connections: number;
};

/** TCP keep-alive. */
const PROBE_AFTER_MS = 30_000;
// An API server closes a connection that was idle for 90 s. A request must not use it at that moment.
const IDLE_MS = 80_000;
const CONNECT_TIMEOUT_MS = 10_000;
const TCP = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

type Connector = ReturnType<typeof buildConnector>;
type Agents = { readonly tls: Tls; readonly connect: Connector } & Record<
  ConnectionPool,
  Dispatcher
>;

export class Transport {
  readonly #options: TransportOptions;
  readonly #retiring = new Set<Dispatcher>();
  #agents: Agents | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    if (options.proxyUrl !== undefined) checkProxy(options.proxyUrl);
  }

  dispatcher(pool: ConnectionPool, tls: Tls): Dispatcher {
    if (this.#agents && !equal(this.#agents.tls, tls)) {
      this.#retire(this.#agents.api);
      this.#retire(this.#agents.watch);
      this.#agents = undefined;
    }
    this.#agents ??= this.#open(tls);
    return this.#agents[pool];
  }

  /** Closes every connection now, and aborts its requests. */
  async close(): Promise<void> {
    const agents = this.#agents ? [this.#agents.api, this.#agents.watch] : [];
    this.#agents = undefined;
    await Promise.all([...agents, ...this.#retiring].map((agent) => agent.destroy()));
  }

  /**
   * A request on `used` was not answered in time. Its other connections may be dead as well, so later requests
   * use new ones. No effect if this has happened already.
   */
  replace(pool: ConnectionPool, used: Dispatcher): void {
    if (this.#agents?.[pool] !== used) return;
    const { tls, connect } = this.#agents;
    this.#agents[pool] = this.#agent(pool, tls, connect);
    this.#retire(used);
  }

  #retire(agent: Dispatcher): void {
    this.#retiring.add(agent);
    const gone = (): void => void this.#retiring.delete(agent);
    agent.close().then(gone, gone);
  }

  #open(tls: Tls): Agents {
    const connect = connector(tls);
    const agent = (pool: ConnectionPool): Dispatcher => this.#agent(pool, tls, connect);
    return { tls, connect, api: agent("api"), watch: agent("watch") };
  }

  #agent(pool: ConnectionPool, tls: Tls, connect: Connector): Dispatcher {
    const { proxyUrl, server, connections } = this.#options;
    const options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // Each request has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(pool === "api" && { connections }),
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
  // One TLS context for all connections: 32 of them cost 9 ms at the beginning of a fan-out. It is created by the first
  // connection, since a proxy or an http: server needs none.
  const secured = (): Connector =>
    buildConnector({ ...options, secureContext: createSecureContext(tls) });
  // undici's cache holds its sessions weakly: the next garbage collection would remove them.
  const held: { open?: Connector; session?: Buffer } = {};
  return (to, done) => {
    held.open ??= to.protocol === "https:" ? secured() : buildConnector(options);
    held.open(to, (...result) => {
      const [, socket] = result;
      socket?.on("session", (session: Buffer) => (held.session = session));
      done(...result);
    });
  };
}

function checkProxy(proxyUrl: string): void {
  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : "";
  if (!["http:", "https:", "socks:", "socks5:"].includes(protocol))
    throw new Error(
      `the proxy (proxy-url of the cluster, else HTTPS_PROXY or HTTP_PROXY) must begin with http://, https:// or socks5://, not "${protocol}"`,
    );
}
