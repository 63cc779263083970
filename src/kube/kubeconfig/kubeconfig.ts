// Finds the API server and our identity: a named kubeconfig, the service account of the pod, or the kubeconfig
// that kubectl would use. Every failure is a KubeConfigError whose message is one line that names the file or
// context. Credentials are not tried here, and certificate files are not read.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isIPv6 } from "node:net";
import { delimiter, join } from "node:path";
import { environmentProxy } from "./environment-proxy.ts";
import { KubeConfigError } from "./kubeconfig-error.ts";
import { readKubeConfigFile } from "./kubeconfig-file.ts";
import type { Cluster, ClusterEntry, KubeConfigFile, User } from "./kubeconfig-file.ts";

/** One server and one user: the content of a context. */
export type KubeConfig = {
  /** The context's name. Undefined for a pod's service account. */
  readonly context?: string | undefined;
  readonly cluster: Cluster;
  readonly user: User;
  /** The context's. */
  readonly namespace?: string | undefined;
};

export type KubeConfigOptions = {
  /** A file. KUBECONFIG is then ignored. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Only the service account of the pod, and no file. */
  readonly inCluster?: boolean;
  /** --as and --as-group: each replaces its own field of the user, as in kubectl. */
  readonly as?: string | undefined;
  readonly asGroups?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Prefix of /var/run/secrets/kubernetes.io/serviceaccount. */
  readonly root?: string;
};

// kubectl accepts a context without a user, such as one for `kubectl proxy`.
const ANONYMOUS: User = { name: "anonymous" };
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const { inCluster = false, kubeconfig, context, env = process.env, root = "" } = options;
  if (inCluster) return impersonating(proxied(loadServiceAccount(env, root), env), options);
  const files = kubeconfig === undefined ? usualFiles(env) : [kubeconfig];
  const config = merge(files.map(readKubeConfigFile));
  return impersonating(proxied(select(config, context, files.join(delimiter)), env), options);
}

function proxied(found: KubeConfig, env: NonNullable<KubeConfigOptions["env"]>): KubeConfig {
  const proxyUrl = found.cluster.proxyUrl ?? environmentProxy(found.cluster.server, env);
  return proxyUrl === undefined ? found : { ...found, cluster: { ...found.cluster, proxyUrl } };
}

function impersonating(
  found: KubeConfig,
  { as, asGroups = [] }: Pick<KubeConfigOptions, "as" | "asGroups">,
): KubeConfig {
  const user = {
    ...found.user,
    ...(as !== undefined && { impersonateUser: as }),
    ...(asGroups.length > 0 && { impersonateGroups: asGroups }),
  };
  const { impersonateUser, impersonateUid, impersonateGroups, impersonateExtra } = user;
  if (impersonateUser !== undefined || !(impersonateUid ?? impersonateGroups ?? impersonateExtra))
    return { ...found, user };
  throw new KubeConfigError(
    asGroups.length > 0
      ? "--as-group needs --as: a group is only with a user in it"
      : `user "${user.name}" of the kubeconfig has as-uid, as-groups or as-user-extra without as: name the user to impersonate`,
  );
}

/** The available contexts. */
export function contextNames({
  kubeconfig,
  env = process.env,
}: Pick<KubeConfigOptions, "kubeconfig" | "env">): readonly string[] {
  const files = kubeconfig === undefined ? usualFiles(env) : [kubeconfig];
  return merge(files.map(readKubeConfigFile)).contexts.map(({ name }) => name);
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
  const name = "in-cluster";
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    cluster: { name, server, caFile: `${root}${SERVICE_ACCOUNT}/ca.crt` },
    user: { name, tokenFile: `${root}${SERVICE_ACCOUNT}/token` },
  };
}

// A list in KUBECONFIG may name missing files. A single file, there or by flag, must exist.
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

// Merged as in kubectl: the first file that names a cluster, user, context or current context wins.
function merge(parts: readonly KubeConfigFile[]): KubeConfigFile {
  const first = <E extends { readonly name: string }>(entries: readonly E[]): readonly E[] =>
    entries.filter((entry, at) => entries.findIndex(({ name }) => name === entry.name) === at);
  return {
    clusters: first(parts.flatMap((part) => part.clusters)),
    users: first(parts.flatMap((part) => part.users)),
    contexts: first(parts.flatMap((part) => part.contexts)),
    currentContext: parts.find((part) => part.currentContext !== undefined)?.currentContext,
  };
}

function select(part: KubeConfigFile, wanted: string | undefined, files: string): KubeConfig {
  const kubeconfig = `kubeconfig "${files}"`;
  const name = wanted ?? part.currentContext;
  if (name === undefined)
    throw new KubeConfigError(`${kubeconfig} has no current-context; name one with --context`);
  const context = part.contexts.find((entry) => entry.name === name);
  if (context === undefined)
    throw new KubeConfigError(
      `${kubeconfig} has no context "${name}"; it has ${list(part.contexts)}`,
    );
  const names = `context "${name}" of ${kubeconfig} names`;
  if (context.cluster === undefined) throw new KubeConfigError(`${names} no cluster`);
  const entry = named(part.clusters, context.cluster, `${names} cluster`);
  const user =
    context.user === undefined ? ANONYMOUS : named(part.users, context.user, `${names} user`);
  const cluster = { ...entry, server: serverOf(entry, files) };
  return context.namespace === undefined
    ? { context: name, cluster, user }
    : { context: name, cluster, user, namespace: context.namespace };
}

function named<E extends { readonly name: string }>(
  entries: readonly E[],
  name: string,
  whose: string,
): E {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new KubeConfigError(`${whose} "${name}", which is not there`);
  return found;
}

function serverOf({ name, server }: ClusterEntry, files: string): string {
  const where = `cluster "${name}" of kubeconfig "${files}" has`;
  if (server === undefined) throw new KubeConfigError(`${where} no server`);
  if (URL.canParse(server) && /^https?:/.test(server)) return server;
  // A server may contain a password.
  const shown = server.replace(/^([^/?#]*:\/\/)?.*@/s, "$1…@");
  throw new KubeConfigError(`${where} server "${shown}", which is no http(s) URL`);
}

function list(entries: readonly { readonly name: string }[]): string {
  const names = entries.slice(0, 10).map((entry) => `"${entry.name}"`);
  if (names.length === 0) return "none";
  return names.join(", ") + (entries.length > 10 ? ", …" : "");
}
