// Finds the API server and who we are to it: a named kubeconfig, the service account of the pod, or
// the kubeconfig that kubectl would take. Every failure is a KubeConfigError whose message is one line
// that names the file or context. Credentials are not tried here, and certificate files not read.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isIPv6 } from "node:net";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { KubeConfig, loadYaml } from "@kubernetes/client-node";
import type { Cluster, Context, User } from "@kubernetes/client-node";
import { isRecord } from "./resource.ts";

export type { KubeConfig } from "@kubernetes/client-node";

export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

export type KubeConfigOptions = {
  /** A file; then neither the cluster's service account nor KUBECONFIG is looked at. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** true: the service account or an error; false: never; absent: when there is one and no file or context is named. */
  readonly inCluster?: boolean | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Put before /var/run/secrets/kubernetes.io/serviceaccount. */
  readonly root?: string;
};

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const { kubeconfig, context, env = process.env, root = "" } = options;
  if (
    options.inCluster ??
    (kubeconfig === undefined && context === undefined && inCluster(env, root))
  )
    return loadServiceAccount(env, root);
  const files = kubeconfig === undefined ? usualFiles(env) : [kubeconfig];
  const config = merge(files.map(loadFile));
  return select(config, context, files.join(delimiter));
}

/** Whether this process runs in a pod with a service account mounted. */
export function inCluster(
  env: Readonly<Record<string, string | undefined>> = process.env,
  root = "",
): boolean {
  return Boolean(env["KUBERNETES_SERVICE_HOST"]) && existsSync(`${root}${SERVICE_ACCOUNT}/token`);
}

function loadServiceAccount(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): KubeConfig {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port)
    throw new KubeConfigError(
      "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set",
    );
  for (const file of ["token", "ca.crt"]) {
    const path = `${root}${SERVICE_ACCOUNT}/${file}`;
    if (!existsSync(path))
      throw new KubeConfigError(
        `not in a cluster: service account file "${path}" does not exist (automountServiceAccountToken must not be false)`,
      );
  }
  return serviceAccountConfig(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`, root);
}

function serviceAccountConfig(server: string, root: string): KubeConfig {
  const file = (name: string): string => `${root}${SERVICE_ACCOUNT}/${name}`;
  const namespace = existsSync(file("namespace")) ? readText(file("namespace")).trim() : undefined;
  const name = "in-cluster";
  const tokenFile = { name: "tokenFile", config: { tokenFile: file("token") } };
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, server, caFile: file("ca.crt"), skipTLSVerify: false }],
    users: [{ name, authProvider: tokenFile }],
    contexts: [{ name, cluster: name, user: name, namespace }],
    currentContext: name,
  });
  return config;
}

// A list in KUBECONFIG may name files that are not there; one that is named alone, or by flag, may not.
function usualFiles(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const list = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (list.length > 0) {
    const present = list.filter((file) => existsSync(file));
    return present.length > 0 ? present : list.slice(0, 1);
  }
  const file = join(env["HOME"] ?? homedir(), ".kube", "config");
  if (!existsSync(file))
    throw new KubeConfigError(
      `no kubeconfig: not in a cluster, KUBECONFIG is not set, and "${file}" does not exist; name one with --kubeconfig`,
    );
  return [file];
}

type Part = {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string | undefined;
};

function loadFile(file: string): Part {
  const text = readText(file);
  const raw = parse(file, text);
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig "${file}" is not valid: ${reason(error)}`);
  }
  config.makePathsAbsolute(dirname(file));
  return {
    clusters: config.clusters,
    users: config.users.map((user) => withTokenFile(user, raw, dirname(file))),
    contexts: config.contexts,
    currentContext: config.currentContext || undefined,
  };
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

function parse(file: string, text: string): Readonly<Record<string, unknown>> {
  let raw: unknown;
  try {
    raw = loadYaml(text);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig "${file}" is not YAML: ${reason(error)}`);
  }
  if (!isRecord(raw)) throw new KubeConfigError(`kubeconfig "${file}" holds no configuration`);
  return raw;
}

// A YAML error goes on to quote the lines around it, which may be a token: its first line says enough.
function reason(error: unknown): string {
  if (!(error instanceof Error) || error instanceof TypeError) return "its structure is wrong";
  const line = error.message.split("\n")[0] ?? "";
  return line.length > 0 && line.length <= 120 ? line : "its structure is wrong";
}

// kubectl's field is `tokenFile`, read anew as the file changes; client-node does that for its own
// name of it only.
function withTokenFile(user: User, raw: Readonly<Record<string, unknown>>, folder: string): User {
  const entries = Array.isArray(raw["users"]) ? raw["users"].filter(isRecord) : [];
  const fields = entries.find((entry) => entry["name"] === user.name)?.["user"];
  const file = isRecord(fields) ? fields["tokenFile"] : undefined;
  if (typeof file !== "string" || file === "") return user;
  const tokenFile = isAbsolute(file) ? file : join(folder, file);
  const { token: _, ...rest } = user;
  return { ...rest, authProvider: { name: "tokenFile", config: { tokenFile } } };
}

// As kubectl merges: the first file that names a cluster, user, context or current context wins.
function merge(parts: readonly Part[]): Part {
  const first = <E extends { readonly name: string }>(entries: readonly E[]): readonly E[] =>
    entries.filter((entry, at) => entries.findIndex(({ name }) => name === entry.name) === at);
  return {
    clusters: first(parts.flatMap((part) => part.clusters)),
    users: first(parts.flatMap((part) => part.users)),
    contexts: first(parts.flatMap((part) => part.contexts)),
    currentContext: parts.find((part) => part.currentContext)?.currentContext,
  };
}

function select(part: Part, wanted: string | undefined, files: string): KubeConfig {
  const name = wanted ?? part.currentContext;
  if (name === undefined)
    throw new KubeConfigError(
      `kubeconfig "${files}" has no current-context; name one with --context`,
    );
  const context = part.contexts.find((entry) => entry.name === name);
  if (context === undefined)
    throw new KubeConfigError(
      `kubeconfig "${files}" has no context "${name}"; it has ${list(part.contexts)}`,
    );
  const cluster = part.clusters.find((entry) => entry.name === context.cluster);
  if (cluster === undefined)
    throw new KubeConfigError(
      `context "${name}" of kubeconfig "${files}" names cluster "${context.cluster}", which is not there`,
    );
  if (!part.users.some((user) => user.name === context.user))
    throw new KubeConfigError(
      `context "${name}" of kubeconfig "${files}" names user "${context.user}", which is not there`,
    );
  checkServer(cluster, files);
  const config = new KubeConfig();
  config.loadFromOptions({ ...part, currentContext: name });
  return config;
}

function checkServer(cluster: Cluster, files: string): void {
  if (!URL.canParse(cluster.server) || !/^https?:/.test(cluster.server))
    throw new KubeConfigError(
      `cluster "${cluster.name}" of kubeconfig "${files}" has server "${cluster.server}", which is no http(s) URL`,
    );
}

function list(entries: readonly { readonly name: string }[]): string {
  const names = entries.slice(0, 10).map((entry) => `"${entry.name}"`);
  if (names.length === 0) return "none";
  return names.join(", ") + (entries.length > 10 ? ", …" : "");
}
