// What a request proves itself with: headers and TLS material of the kubeconfig's user, through
// client-node's providers (files, exec plugins, OIDC, basic, impersonation).
// Promises: however many requests ask at once, files are read and plugins run once; what was read
// serves for ten seconds; after a 401 everything is read anew, past the providers' own caches.
import { promises as files } from "node:fs";
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import type { Cluster } from "@kubernetes/client-node";
import type { Clock } from "./clock.ts";
import { isRecord } from "./resource.ts";

export type Tls = {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
};

export type Credentials = {
  /** Grows with each reading: tells a 401's sender whether someone has read anew since. */
  readonly generation: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Tls;
};

/** Why no credentials could be had; its message names the source and holds nothing read from it. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

// Short enough for rotated files to be seen at once, long enough for 500 requests a second.
const FRESH_MS = 10_000;
// A plugin that takes longer hangs: the next request starts it again.
const HUNG_MS = 60_000;

export class CredentialCache {
  readonly #clock: Clock;
  readonly #source: KubeConfig;
  #reader: KubeConfig;
  #generation = 0;
  #last: { readonly at: number; readonly credentials: Credentials } | undefined;
  #flight: { readonly since: number; readonly credentials: Promise<Credentials> } | undefined;

  constructor(config: KubeConfig, clock: Clock) {
    this.#clock = clock;
    this.#source = config;
    this.#reader = reader(config);
  }

  get(): Promise<Credentials> {
    const now = this.#clock.monotonic();
    if (this.#flight && now - this.#flight.since < HUNG_MS) return this.#flight.credentials;
    if (this.#last && now - this.#last.at < FRESH_MS)
      return Promise.resolve(this.#last.credentials);
    const flight = { since: now, credentials: this.#read() };
    this.#flight = flight;
    const land = (): void => {
      if (this.#flight === flight) this.#flight = undefined;
    };
    flight.credentials.then(land, land);
    return flight.credentials;
  }

  /** The server refused `used`; no-op when newer ones have been read since. */
  refused(used: Credentials): void {
    if (used.generation !== this.#generation) return;
    this.#last = undefined;
    this.#reader = reader(this.#source);
  }

  async #read(): Promise<Credentials> {
    const options: RequestOptions = {};
    try {
      await this.#reader.applyToHTTPSOptions(options);
    } catch (error) {
      throw new CredentialsError(explain(this.#reader, error));
    }
    const credentials = {
      generation: ++this.#generation,
      headers: { ...headersOf(options), ...(await this.#tokenHeader()) },
      tls: tlsOf(options),
    };
    this.#last = { at: this.#clock.monotonic(), credentials };
    return credentials;
  }

  // client-node keeps a token file's content for a minute; a rotated token must serve at once.
  async #tokenHeader(): Promise<Readonly<Record<string, string>>> {
    const file = tokenFileOf(this.#reader);
    if (file === undefined) return {};
    try {
      return { Authorization: `Bearer ${(await files.readFile(file, "utf8")).trim()}` };
    } catch (error) {
      throw new CredentialsError(`token file "${file}" cannot be read (${codeOf(error)})`);
    }
  }
}

// A copy with fresh providers, so with none of their caches. client-node refuses http: servers
// unless the cluster skips verification, of which there is none to skip.
function reader(config: KubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({
    clusters: config.clusters.map((cluster): Cluster =>
      cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
    ),
    users: config.users,
    contexts: config.contexts,
    currentContext: config.currentContext,
  });
  return copy;
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (typeof options.auth === "string")
    headers["Authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (value !== undefined) headers[name] = String(value);
  return headers;
}

function tlsOf(options: RequestOptions): Tls {
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    ...(isMaterial(ca) && { ca }),
    ...(isMaterial(cert) && { cert }),
    ...(isMaterial(key) && { key }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
}

function isMaterial(value: unknown): value is Buffer | string {
  return typeof value === "string" || Buffer.isBuffer(value);
}

function tokenFileOf(config: KubeConfig): string | undefined {
  const provider: unknown = config.getCurrentUser()?.authProvider;
  const settings = isRecord(provider) ? provider["config"] : undefined;
  const file = isRecord(settings) ? settings["tokenFile"] : undefined;
  return typeof file === "string" ? file : undefined;
}

// A plugin's error is what it wrote to stderr, which may be anything: not passed on.
function explain(config: KubeConfig, error: unknown): string {
  const code = codeOf(error);
  const file = isRecord(error) && typeof error["path"] === "string" ? error["path"] : "";
  const user = config.getCurrentUser();
  const plugin: unknown = user?.exec;
  const command = isRecord(plugin) ? String(plugin["command"]) : undefined;
  if (command !== undefined && !code.startsWith("E"))
    return `credential plugin "${command}" of user "${user?.name}" failed; run it by hand to see why`;
  if (command !== undefined && code === "ENOENT" && file === command)
    return `credential plugin "${command}" of user "${user?.name}" was not found`;
  return `credentials of user "${user?.name}" cannot be read${file ? ` from "${file}"` : ""} (${code})`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "no code";
}
