// The smallest client for a test that speaks to an API server as it is: any method, path and body,
// and what came back, unjudged. It knows nothing of Kubernetes but that bodies are JSON; a body that
// is not JSON is left as text.
import { Agent } from "undici";
import type { Dispatcher } from "undici";

export type Server = {
  readonly url: string;
  readonly token?: string;
  /** PEM of the certificate to trust, for https. */
  readonly ca?: string;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown;
};

export type SendOptions = {
  /** A string or a Buffer is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Http = {
  readonly send: (
    method: Dispatcher.HttpMethod,
    path: string,
    options?: SendOptions,
  ) => Promise<Answer>;
  /** The lines of a watch as they come, until the server ends it or `signal` fires. */
  readonly lines: (
    path: string,
    signal?: AbortSignal,
    accept?: string,
  ) => AsyncGenerator<unknown, void, undefined>;
  readonly close: () => Promise<void>;
};

export function openHttp(server: Server): Http {
  const agent = new Agent({
    allowH2: false,
    ...(server.ca === undefined ? {} : { connect: { ca: server.ca } }),
  });
  const authorization =
    server.token === undefined ? {} : { authorization: `Bearer ${server.token}` };

  const send: Http["send"] = async (method, path, options = {}) => {
    const { statusCode, headers, body } = await agent.request({
      origin: server.url,
      method,
      path,
      headers: {
        ...authorization,
        ...options.headers,
        accept: options.accept ?? "application/json",
        ...(options.body === undefined
          ? {}
          : { "content-type": options.contentType ?? "application/json" }),
      },
      ...(options.body === undefined
        ? {}
        : { body: Buffer.isBuffer(options.body) ? options.body : asText(options.body) }),
    });
    return { status: statusCode, headers, body: parsed(await body.text()) };
  };

  async function* lines(
    path: string,
    signal?: AbortSignal,
    accept = "application/json",
  ): AsyncGenerator<unknown, void, undefined> {
    const { statusCode, body } = await agent.request({
      origin: server.url,
      method: "GET",
      path,
      headers: { ...authorization, accept },
      // A healthy watch may be silent for two minutes and more.
      bodyTimeout: 0,
      ...(signal === undefined ? {} : { signal }),
    });
    if (statusCode !== 200) throw new Error(`watch "${path}": ${statusCode} ${await body.text()}`);
    let rest = "";
    for await (const chunk of body.setEncoding("utf8")) {
      const parts = `${rest}${String(chunk)}`.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part !== "") yield JSON.parse(part);
    }
  }

  return { send, lines, close: () => agent.destroy() };
}

/** The value at a path inside a JSON body; undefined where a step is missing. */
export function field(body: unknown, ...path: readonly (string | number)[]): unknown {
  let at: unknown = body;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}

const asText = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
