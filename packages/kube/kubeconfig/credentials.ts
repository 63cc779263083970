// The credentials of a request: headers and TLS material of the kubeconfig's cluster and user.
// Promises: files are read and plugins run once, however many requests ask at the same time. The result is used
// for ten seconds. After a 401 everything is read again, and a plugin's cached credential is ignored.
import { promises as files } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { Clock } from "../time/clock.ts";
import { authProvider } from "./auth-provider.ts";
import {
  CredentialsError,
  errorCodeOf,
  type CredentialSource,
  type Proof,
} from "./credential-source.ts";
import { execPlugin, mayAskUser } from "./exec-plugin.ts";
import type { User } from "./kubeconfig-file.ts";
import type { KubeConfig } from "./kubeconfig.ts";

export { CredentialsError };

export type Tls = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "servername" | "rejectUnauthorized"
>;

export type Credentials = {
  /** With a list, the header is sent once for each value. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: Tls;
};

// Short enough to use rotated files at once, long enough for 500 requests a second.
const FRESH_MS = 10_000;
// A read that takes longer is stuck: the next request reads the files again.
const HUNG_MS = 60_000;

export class CredentialCache {
  readonly #clock: Clock;
  readonly #config: KubeConfig;
  #source: CredentialSource | undefined;
  #last: { readonly until: number; readonly credentials: Credentials } | undefined;
  #flight: { readonly since: number; readonly credentials: Promise<Credentials> } | undefined;

  readonly #hasReader: boolean;

  /** `hasReader`: a user reads what a plugin prints on stderr, even if it is not a terminal. */
  constructor(config: KubeConfig, clock: Clock, { hasReader = false } = {}) {
    this.#hasReader = hasReader;
    this.#clock = clock;
    this.#config = config;
  }

  /** Whether a user may have to log in first, which takes longer than a request may. */
  get asksUser(): boolean {
    const { exec } = this.#config.user;
    return exec !== undefined && mayAskUser(exec);
  }

  /** The source that is waited for while credentials are read. Undefined if only local files are read. */
  get awaited(): Pick<CredentialSource, "title" | "limitMs"> | undefined {
    return this.#flight && this.#source;
  }

  /** The credentials that were read within the last ten seconds and not refused since. */
  get fresh(): Credentials | undefined {
    if (this.#flight || !this.#last) return undefined;
    return this.#clock.monotonic() < this.#last.until ? this.#last.credentials : undefined;
  }

  get(): Promise<Credentials> {
    const now = this.#clock.monotonic();
    if (this.#flight && now - this.#flight.since < (this.#source?.limitMs ?? HUNG_MS))
      return this.#flight.credentials;
    if (this.fresh) return Promise.resolve(this.fresh);
    const flight = { since: now, credentials: this.#read() };
    this.#flight = flight;
    const land = (): void => {
      if (this.#flight === flight) this.#flight = undefined;
    };
    flight.credentials.then(land, land);
    return flight.credentials;
  }

  /** The server refused `used`. No effect when newer credentials have been read since. */
  refused(used: Credentials): void {
    if (used !== this.#last?.credentials) return;
    this.#last = undefined;
    this.#source?.forget();
  }

  async #read(): Promise<Credentials> {
    const { cluster, user } = this.#config;
    const ca = await bytesOf(cluster.caFile, cluster.caData);
    const cert = await bytesOf(user.certFile, user.certData);
    const key = await bytesOf(user.keyFile, user.keyData);
    const token = await tokenOf(user);
    const proof = await this.#prove(ca);
    const credentials = {
      headers: sendable(user, {
        ...(user.username !== undefined && { Authorization: basic(user.username, user.password) }),
        ...(proof?.headers as Record<string, string> | undefined),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...impersonation(user),
      }),
      tls: {
        ca,
        cert: proof?.cert ?? cert,
        // As kubectl: a key without a certificate is not used.
        key: proof?.key ?? (cert && key),
        servername: cluster.tlsServerName,
        rejectUnauthorized: cluster.skipTLSVerify === true ? false : undefined,
      },
    };
    const leftMs = (proof?.expiresAt ?? Infinity) - this.#clock.now();
    this.#last = { until: this.#clock.monotonic() + Math.min(FRESH_MS, leftMs), credentials };
    return credentials;
  }

  async #prove(ca: Buffer | undefined): Promise<Proof | undefined> {
    const { cluster, user } = this.#config;
    const { exec, name } = user;
    this.#source ??= exec
      ? execPlugin({ name, exec }, cluster, {
          clock: this.#clock,
          caData: ca?.toString("base64"),
          hasReader: this.#hasReader,
        })
      : authProvider(user, { now: () => this.#clock.now() });
    return this.#source?.prove();
  }
}

function impersonation(user: User): Record<string, string | string[]> {
  const { impersonateUser, impersonateUid, impersonateGroups, impersonateExtra } = user;
  if (impersonateUser === undefined) return {};
  const extra = Object.entries(impersonateExtra ?? {}).map(([key, values]) => [
    `Impersonate-Extra-${headerKey(key)}`,
    [...values],
  ]);
  return {
    "Impersonate-User": impersonateUser,
    ...(impersonateUid !== undefined && { "Impersonate-Uid": impersonateUid }),
    ...(impersonateGroups && { "Impersonate-Group": [...impersonateGroups] }),
    ...Object.fromEntries(extra),
  };
}

// client-go escapes exactly the bytes of a key that a header's name cannot hold, "%" among them.
function headerKey(key: string): string {
  return Array.from(Buffer.from(key, "utf8"), (byte) => {
    const sign = String.fromCodePoint(byte);
    return /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(sign)
      ? sign
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/** Values hold UTF-8, as Go sends it. Throws if a value is not valid in a header. */
function sendable(
  { name }: User,
  headers: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  const bytes = (header: string, value: string): string => {
    // eslint-disable-next-line no-control-regex
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
      throw new CredentialsError(
        `the ${header} header for user "${name}" is not valid: its ${header === "Authorization" ? "token" : "value"} contains a line break or another control character`,
      );
    return Buffer.from(value, "utf8").toString("latin1");
  };
  return Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [
      header,
      typeof value === "string" ? bytes(header, value) : value.map((each) => bytes(header, each)),
    ]),
  );
}

async function bytesOf(file: string | undefined, base64: string | undefined) {
  if (file !== undefined) return contentOf(file, "file");
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}

/** As kubectl: the file wins, and a token beside it is used while the file has none. */
async function tokenOf({ token, tokenFile }: User): Promise<string | undefined> {
  if (tokenFile === undefined) return token;
  try {
    return await tokenIn(tokenFile);
  } catch (error) {
    if (token !== undefined && error instanceof CredentialsError) return token;
    throw error;
  }
}

async function tokenIn(file: string): Promise<string> {
  const token = (await contentOf(file, "token file")).toString("utf8").trim();
  if (token === "") throw new CredentialsError(`token file "${file}" is empty`);
  return token;
}

async function contentOf(file: string, what: string): Promise<Buffer> {
  try {
    return await files.readFile(file);
  } catch (error) {
    throw new CredentialsError(`${what} "${file}" cannot be read (${errorCodeOf(error)})`);
  }
}

function basic(username: string, password = ""): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
