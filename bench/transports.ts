// The ways to send a write that there were to choose from, each as a function that posts one body.
import { CoreV1Api, KubeConfig, type RequestContext } from "@kubernetes/client-node";
import { Agent } from "undici";
import { createClient } from "../src/kube/rest/client.ts";
import { systemClock } from "../src/kube/time/clock.ts";

export type Server = { readonly url: string; readonly token: string; readonly ca: string };
export type Post = { readonly path: string; readonly body: unknown };
type Send = (post: Post) => Promise<void>;

export type Transport = "bare" | "bare, HTTP/2" | "ours" | "typed" | "typed, one dispatcher";

/** Connections of what has a pool of them. */
export const CONNECTIONS = 32;

export function sender(transport: Transport, server: Server): Send {
  switch (transport) {
    case "bare":
      return bare(server, false);
    case "bare, HTTP/2":
      return bare(server, true);
    case "ours":
      return ours(server);
    case "typed":
      return typed(new KubeConfig(), server);
    case "typed, one dispatcher":
      return typed(new OneDispatcher(server), server);
  }
}

function bare({ url, token, ca }: Server, allowH2: boolean): Send {
  const dispatcher = new Agent({
    allowH2,
    connections: allowH2 ? 1 : CONNECTIONS,
    connect: { ca },
  });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return async ({ path, body }) => {
    const text = JSON.stringify(body);
    const answer = await dispatcher.request({
      origin: url,
      method: "POST",
      path,
      headers,
      body: text,
    });
    await answer.body.json();
    if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode}`);
  };
}

function ours({ url, token, ca }: Server): Send {
  const cluster = { name: "bench", server: url, caData: base64(ca) };
  const options = { clock: systemClock, userAgent: "bench", connections: CONNECTIONS };
  const client = createClient({ cluster, user: { name: "bench", token } }, options);
  return async ({ path, body }) => {
    await client.request({ method: "POST", path, body, what: "post" });
  };
}

// As its users call it: one method a kind, objects in and out.
function typed(config: KubeConfig, { url, token, ca }: Server): Send {
  const name = "bench";
  config.loadFromOptions({
    clusters: [{ name, server: url, caData: base64(ca), skipTLSVerify: false }],
    users: [{ name, token }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  });
  const api = config.makeApiClient(CoreV1Api);
  return async ({ path, body }) => {
    const namespace = path.split("/")[4] ?? "";
    await api.createNamespacedSecret({ namespace, body: body as object });
  };
}

/** One dispatcher for all calls; client-node itself makes one for each. */
class OneDispatcher extends KubeConfig {
  readonly #dispatcher: Agent;
  readonly #token: string;

  constructor({ token, ca }: Server) {
    super();
    this.#token = token;
    this.#dispatcher = new Agent({ allowH2: false, connections: CONNECTIONS, connect: { ca } });
  }

  override applySecurityAuthentication(context: RequestContext): Promise<void> {
    context.setHeaderParam("Authorization", `Bearer ${this.#token}`);
    context.setDispatcher(this.#dispatcher);
    return Promise.resolve();
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
