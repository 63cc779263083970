// One kubeconfig file as it is written: its clusters, users and contexts, with paths made absolute and
// every field of the type it has in kubectl. A failure is a KubeConfigError of one line that names the
// file and the field and quotes no value. Nothing else is read here, no certificate and no token.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { load } from "js-yaml";
import { isRecord } from "./resource.ts";

export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

export type Cluster = {
  readonly name: string;
  readonly server: string;
  readonly caFile?: string | undefined;
  /** In base64, as all data here. */
  readonly caData?: string | undefined;
  readonly skipTLSVerify?: boolean;
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
};

/** An exec plugin or an auth provider, as its own reader wants it: not checked here. */
export type Fields = Readonly<Record<string, unknown>>;

export type User = {
  readonly name: string;
  readonly token?: string | undefined;
  /** Counts before `token`, and is read anew as it changes. */
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly certFile?: string | undefined;
  readonly certData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly impersonateUser?: string | undefined;
  readonly exec?: Fields | undefined;
  readonly authProvider?: Fields | undefined;
};

export type Context = {
  readonly name: string;
  readonly cluster: string;
  readonly user: string | undefined;
};

export type KubeConfigFile = {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string | undefined;
};

export function readKubeConfigFile(file: string): KubeConfigFile {
  const root = new Entry(file, "", parse(file));
  return {
    clusters: root.list("clusters").map(cluster),
    users: root.list("users").map(user),
    contexts: root.list("contexts").map(context),
    currentContext: root.text("current-context"),
  };
}

function cluster(entry: Entry): Cluster {
  const name = entry.needed("name");
  const fields = entry.part("cluster");
  return {
    name,
    server: fields.needed("server"),
    caFile: fields.path("certificate-authority"),
    caData: fields.text("certificate-authority-data"),
    skipTLSVerify: fields.flag("insecure-skip-tls-verify"),
    tlsServerName: fields.text("tls-server-name"),
    proxyUrl: fields.text("proxy-url"),
  };
}

function user(entry: Entry): User {
  const name = entry.needed("name");
  const fields = entry.optional("user");
  return {
    name,
    token: fields?.text("token"),
    tokenFile: fields?.path("tokenFile"),
    username: fields?.text("username"),
    password: fields?.text("password"),
    certFile: fields?.path("client-certificate"),
    certData: fields?.text("client-certificate-data"),
    keyFile: fields?.path("client-key"),
    keyData: fields?.text("client-key-data"),
    impersonateUser: fields?.text("as"),
    exec: fields?.optional("exec")?.fields,
    authProvider: fields?.optional("auth-provider")?.fields,
  };
}

function context(entry: Entry): Context {
  const name = entry.needed("name");
  const fields = entry.part("context");
  return {
    name,
    cluster: fields.needed("cluster"),
    user: fields.text("user"),
  };
}

/** A mapping of the file, which knows where it stands. Empty text counts as absent, as for kubectl. */
class Entry {
  readonly fields: Fields;
  readonly #file: string;
  readonly #where: string;

  constructor(file: string, where: string, fields: Fields) {
    this.#file = file;
    this.#where = where;
    this.fields = fields;
  }

  text(name: string): string | undefined {
    const value = this.fields[name] ?? "";
    if (typeof value !== "string") throw this.#wrong(name, "is no text; put it in quotes");
    return value === "" ? undefined : value;
  }

  needed(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.#wrong(name, "is missing");
    return value;
  }

  path(name: string): string | undefined {
    const path = this.text(name);
    return path === undefined || isAbsolute(path) ? path : join(dirname(this.#file), path);
  }

  flag(name: string): boolean {
    const value = this.fields[name] ?? false;
    if (typeof value !== "boolean") throw this.#wrong(name, "is neither true nor false");
    return value;
  }

  optional(name: string): Entry | undefined {
    const value = this.fields[name] ?? undefined;
    return value === undefined ? undefined : this.#entry(name, value);
  }

  part(name: string): Entry {
    const entry = this.optional(name);
    if (!entry) throw this.#wrong(name, "is missing");
    return entry;
  }

  list(name: string): readonly Entry[] {
    const value = this.fields[name] ?? [];
    if (!Array.isArray(value)) throw this.#wrong(name, "is no list");
    return value.map((item: unknown, at) => this.#entry(`${name}[${at}]`, item));
  }

  #entry(name: string, value: unknown): Entry {
    if (!isRecord(value)) throw this.#wrong(name, "is no mapping");
    return new Entry(this.#file, `${this.#where}${name}.`, value);
  }

  #wrong(name: string, how: string): KubeConfigError {
    return new KubeConfigError(
      `kubeconfig "${this.#file}" is not valid: ${this.#where}${name} ${how}`,
    );
  }
}

function parse(file: string): Fields {
  const text = readText(file);
  let raw: unknown;
  try {
    raw = load(text);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig "${file}" is not YAML: ${reason(error)}`);
  }
  if (!isRecord(raw)) throw new KubeConfigError(`kubeconfig "${file}" holds no configuration`);
  return raw;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = isRecord(error) ? error["code"] : undefined;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${String(code)})`;
    throw new KubeConfigError(`kubeconfig "${file}" ${why}`);
  }
}

// A YAML error goes on to quote the lines around it, which may be a token: its first line says enough.
function reason(error: unknown): string {
  const line = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
  return line.length > 0 && line.length <= 120 ? line : "its structure is wrong";
}
