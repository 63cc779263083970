// One kubeconfig file as written: its clusters, users and contexts, with absolute paths and every field of the
// type it has in kubectl. A failure is a KubeConfigError of one line that names the file and the field and
// quotes no value. Certificate and token files are not read here. docs/decisions/006 gives the reasons not to
// use client-node for this.
import { readFileSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import type * as clientNode from "@kubernetes/client-node";
import { YAMLException } from "js-yaml";
import { loadAsKubectl } from "./kubectl-yaml.ts";
import { KubeConfigError } from "./kubeconfig-error.ts";
import { isRecord } from "../json.ts";

export type Cluster = Partial<clientNode.Cluster> &
  Pick<clientNode.Cluster, "name" | "server"> & {
    /** The cluster's configuration for exec plugins, from an extension of its own. */
    readonly execConfig?: unknown;
  };

/** kubectl writes entries without these fields, and asks for them only where it uses the entry. */
export type ClusterEntry = Omit<Cluster, "server"> & Partial<Pick<Cluster, "server">>;
export type ContextEntry = Omit<Context, "cluster"> & Partial<Pick<Context, "cluster">>;

/** An exec plugin or an auth provider. Its own reader checks it. */
type Fields = Readonly<Record<string, unknown>>;

export type User = Omit<clientNode.User, "exec" | "authProvider"> & {
  /** Takes precedence over `token`, and is read again as it changes. */
  readonly tokenFile?: string;
  /** These three require `impersonateUser`. */
  readonly impersonateUid?: string;
  readonly impersonateGroups?: readonly string[];
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: Fields;
  readonly authProvider?: Fields;
  /** The kubeconfig that contains an auth provider, which writes its new tokens back. */
  readonly file?: string;
};

export type Context = Pick<clientNode.Context, "name" | "cluster"> & {
  readonly user?: string;
  /** The namespace of commands that name none. */
  readonly namespace?: string;
};

export type KubeConfigFile = {
  readonly clusters: readonly ClusterEntry[];
  readonly users: readonly User[];
  readonly contexts: readonly ContextEntry[];
  readonly currentContext?: string | undefined;
};

type Kind = "text" | "path" | "flag" | "mapping" | "texts" | "texts by name";
// For each property: the field's name in the file, its type, and whether it is required.
type Table<T> = { readonly [P in keyof Required<T>]: readonly [string, Kind, "needed"?] };

const ROOT: Table<Pick<KubeConfigFile, "currentContext">> = {
  currentContext: ["current-context", "text"],
};
const ENTRY: Table<{ name: string }> = { name: ["name", "text", "needed"] };
const CLUSTER: Table<Omit<ClusterEntry, "name" | "execConfig">> = {
  server: ["server", "text"],
  caFile: ["certificate-authority", "path"],
  caData: ["certificate-authority-data", "text"],
  skipTLSVerify: ["insecure-skip-tls-verify", "flag"],
  tlsServerName: ["tls-server-name", "text"],
  proxyUrl: ["proxy-url", "text"],
};
const USER: Table<Omit<User, "name" | "file">> = {
  token: ["token", "text"],
  tokenFile: ["tokenFile", "path"],
  username: ["username", "text"],
  password: ["password", "text"],
  certFile: ["client-certificate", "path"],
  certData: ["client-certificate-data", "text"],
  keyFile: ["client-key", "path"],
  keyData: ["client-key-data", "text"],
  impersonateUser: ["as", "text"],
  impersonateUid: ["as-uid", "text"],
  impersonateGroups: ["as-groups", "texts"],
  impersonateExtra: ["as-user-extra", "texts by name"],
  exec: ["exec", "mapping"],
  authProvider: ["auth-provider", "mapping"],
};
const CONTEXT: Table<Omit<ContextEntry, "name">> = {
  cluster: ["cluster", "text"],
  user: ["user", "text"],
  namespace: ["namespace", "text"],
};

export function readKubeConfigFile(file: string): KubeConfigFile {
  const root = parse(file);
  return {
    ...read(file, "", root, ROOT),
    clusters: entries(file, root, "cluster", CLUSTER).map((cluster, at) =>
      withExecConfig(file, root, cluster, at),
    ),
    users: entries(file, root, "user", USER).map((user) => ({
      ...withCommand(file, user),
      ...(user.authProvider && { file }),
    })),
    contexts: entries(file, root, "context", CONTEXT),
  };
}

function entries<T>(file: string, root: Fields, kind: string, table: Table<T>) {
  const list = root[`${kind}s`] ?? [];
  if (!Array.isArray(list)) throw wrong(file, `${kind}s`, "is no list");
  return list.map((item: unknown, at) => {
    const where = `${kind}s[${at}]`;
    if (!isRecord(item)) throw wrong(file, where, "is no mapping");
    const fields = item[kind] ?? {};
    const { name } = read(file, `${where}.`, item, ENTRY);
    if (!isRecord(fields)) throw wrong(file, `${where}.${kind}`, "is no mapping");
    return { name, ...read(file, `${where}.${kind}.`, fields, table) };
  });
}

// Empty text counts as absent, as in kubectl.
function read<T>(file: string, where: string, fields: Fields, table: Table<T>): T {
  const found: Record<string, unknown> = {};
  for (const [property, [name, kind, needed]] of Object.entries<Table<T>[keyof T]>(table)) {
    const value = fields[name] ?? "";
    const fault = value === "" ? needed && "is missing" : faultOf(kind, value);
    if (fault !== undefined) throw wrong(file, where + name, fault);
    if (value !== "") found[property] = kind === "path" ? beside(file, value as string) : value;
  }
  return found as T;
}

function faultOf(kind: Kind, value: unknown): string | undefined {
  if (kind === "flag") return typeof value === "boolean" ? undefined : "is neither true nor false";
  if (kind === "mapping") return isRecord(value) ? undefined : "is no mapping";
  if (kind === "texts") return isTexts(value) ? undefined : "is no list of texts";
  if (kind === "texts by name")
    return isRecord(value) && Object.values(value).every(isTexts)
      ? undefined
      : "is no mapping of lists of texts";
  return typeof value === "string" ? undefined : "is no text; put it in quotes";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

function withExecConfig(
  file: string,
  root: Fields,
  cluster: ClusterEntry,
  at: number,
): ClusterEntry {
  const item: unknown = (root["clusters"] as readonly unknown[])[at];
  const fields = isRecord(item) && isRecord(item["cluster"]) ? item["cluster"] : {};
  const extensions = fields["extensions"] ?? [];
  if (!Array.isArray(extensions))
    throw wrong(file, `clusters[${at}].cluster.extensions`, "is no list");
  const ours = extensions.filter(isRecord).find(({ name }) => name === EXEC_EXTENSION);
  return ours === undefined ? cluster : { ...cluster, execConfig: ours["extension"] };
}

// A plugin with a path is relative to the file, one without is found on the PATH, as in kubectl.
function withCommand(file: string, user: User): User {
  const command = user.exec?.["command"];
  if (typeof command !== "string" || !command.includes(sep)) return user;
  return { ...user, exec: { ...user.exec, command: beside(file, command) } };
}

function beside(file: string, path: string): string {
  return resolve(dirname(file), path);
}

function wrong(file: string, where: string, how: string): KubeConfigError {
  return new KubeConfigError(`kubeconfig "${file}" is not valid: ${where} ${how}`);
}

function parse(file: string): Fields {
  const text = readText(file);
  let raw: unknown;
  try {
    raw = loadAsKubectl(text);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig "${file}" is not YAML: ${reason(error)}`);
  }
  // An empty file is an empty kubeconfig, as in kubectl.
  if (raw === undefined) return {};
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

// A YAML error may quote a token, such as one that begins with * or !. Only the reader's own text is reported.
function reason(error: unknown): string {
  if (!(error instanceof YAMLException)) return "its structure is wrong";
  const [words = ""] = error.reason.split(/ ?["!]|: /);
  const { mark } = error;
  return mark ? `${words} (${mark.line + 1}:${mark.column + 1})` : words;
}
