// What a request proves itself with: headers and TLS material of the kubeconfig's cluster and user.
// Promises: however many requests ask at once, files are read and plugins run once; what was read
// serves for ten seconds; after a 401 everything is read anew, past what a plugin has kept.
import { promises as files } from "node:fs";
import type { Clock } from "./clock.ts";
import { credentialPlugin } from "./credential-plugin.ts";
import type { CredentialPlugin, Proof } from "./credential-plugin.ts";
import type { Cluster, User } from "./kubeconfig-file.ts";
import type { KubeConfig } from "./kubeconfig.ts";
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
  readonly #config: KubeConfig;
  #plugin: CredentialPlugin | undefined;
  #generation = 0;
  #last: { readonly at: number; readonly credentials: Credentials } | undefined;
  #flight: { readonly since: number; readonly credentials: Promise<Credentials> } | undefined;

  constructor(config: KubeConfig, clock: Clock) {
    this.#clock = clock;
    this.#config = config;
    this.#plugin = credentialPlugin(config.user);
  }

  /** What was read within the last ten seconds and not refused since. */
  get fresh(): Credentials | undefined {
    if (this.#flight || !this.#last) return undefined;
    return this.#clock.monotonic() - this.#last.at < FRESH_MS ? this.#last.credentials : undefined;
  }

  get(): Promise<Credentials> {
    const now = this.#clock.monotonic();
    if (this.#flight && now - this.#flight.since < HUNG_MS) return this.#flight.credentials;
    if (this.fresh) return Promise.resolve(this.fresh);
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
    this.#plugin = credentialPlugin(this.#config.user);
  }

  async #read(): Promise<Credentials> {
    const { cluster, user } = this.#config;
    const tls = await tlsOf(cluster, user);
    const token = await tokenOf(user);
    const proof = await this.#prove();
    const credentials = {
      generation: ++this.#generation,
      headers: {
        ...(user.username !== undefined && { Authorization: basic(user.username, user.password) }),
        ...proof?.headers,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(user.impersonateUser !== undefined && { "Impersonate-User": user.impersonateUser }),
      },
      tls: { ...tls, ...proof?.tls },
    };
    this.#last = { at: this.#clock.monotonic(), credentials };
    return credentials;
  }

  async #prove(): Promise<Proof | undefined> {
    try {
      return await this.#plugin?.();
    } catch (error) {
      throw new CredentialsError(explain(this.#config.user, error));
    }
  }
}

async function tlsOf(cluster: Cluster, user: User): Promise<Tls> {
  const [ca, cert, key] = await Promise.all([
    material(cluster.caFile, cluster.caData),
    material(user.certFile, user.certData),
    material(user.keyFile, user.keyData),
  ]);
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify === true && { rejectUnauthorized: false }),
  };
}

async function material(
  file: string | undefined,
  data: string | undefined,
): Promise<Buffer | undefined> {
  if (file === undefined) return data === undefined ? undefined : Buffer.from(data, "base64");
  try {
    return await files.readFile(file);
  } catch (error) {
    throw new CredentialsError(`file "${file}" cannot be read (${codeOf(error)})`);
  }
}

async function tokenOf({ token, tokenFile }: User): Promise<string | undefined> {
  if (tokenFile === undefined) return token;
  try {
    return (await files.readFile(tokenFile, "utf8")).trim();
  } catch (error) {
    throw new CredentialsError(`token file "${tokenFile}" cannot be read (${codeOf(error)})`);
  }
}

function basic(username: string, password = ""): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

// A plugin's error is what it wrote to stderr, which may be anything: not passed on.
function explain({ name, exec, authProvider }: User, error: unknown): string {
  const code = codeOf(error);
  if (!exec)
    return `auth provider "${String(authProvider?.["name"])}" of user "${name}" failed (${code}); has its token expired?`;
  const command = String(exec["command"]);
  if (code === "ENOENT" && isRecord(error) && error["path"] === command)
    return `credential plugin "${command}" of user "${name}" was not found`;
  if (code.startsWith("E"))
    return `credential plugin "${command}" of user "${name}" cannot be run (${code})`;
  return `credential plugin "${command}" of user "${name}" failed; run it by hand to see why`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "no code";
}
