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
  readonly overrides?: ConnectionOverrides;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Prefix of /var/run/secrets/kubernetes.io/serviceaccount. */
  readonly root?: string;
};

/** The other connection flags of kubectl, in its meaning. */
export type ConnectionOverrides = {
  /** Names of a cluster and a user of the kubeconfig, in place of those of the context. */
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly skipTLSVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
  readonly asUid?: string | undefined;
};

// kubectl accepts a context without a user, such as one for `kubectl proxy`.
const ANONYMOUS: User = { name: "anonymous" };
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const { kubeconfig, context, env = process.env, root = "", overrides = {} } = options;
  const finished = (found: KubeConfig): KubeConfig =>
    impersonating(proxied(consistent(overridden(found, overrides)), env), options);
  if (options.inCluster === true) return finished(loadServiceAccount(env, root));
  const files = kubeconfig === undefined ? usualFiles(env, overrides.server) : [kubeconfig];
  const config = merge(files.map(readKubeConfigFile));
  return finished(select(config, context, files.join(delimiter), overrides));
}

/** As kubectl: a flag takes the fields with it that would contradict it. */
function overridden(
  { cluster, user, ...rest }: KubeConfig,
  flags: ConnectionOverrides,
): KubeConfig {
  const { server, caFile, skipTLSVerify, tlsServerName, token, certFile, keyFile } = flags;
  const verifies = caFile !== undefined || skipTLSVerify === true;
  const names = tlsServerName !== undefined || server !== undefined;
  return {
    ...rest,
    cluster: {
      ...cluster,
      ...(server !== undefined && { server: checkedServer(server, "--server is") }),
      ...(verifies && { ...WITHOUT_CA, ...defined({ caFile, skipTLSVerify }) }),
      ...(names && { tlsServerName }),
    } as Cluster,
    user: {
      ...user,
      ...(token !== undefined && { ...WITHOUT_TOKEN, token }),
      ...(certFile !== undefined && { certData: undefined, certFile }),
      ...(keyFile !== undefined && { keyData: undefined, keyFile }),
    } as User,
  };
}

const WITHOUT_CA = { caFile: undefined, caData: undefined, skipTLSVerify: undefined };
// A plugin would be run in vain: the token wins.
const WITHOUT_TOKEN = { tokenFile: undefined, exec: undefined, authProvider: undefined };

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Refuses what kubectl refuses. A contradiction would otherwise drop a credential or a check in silence. */
function consistent(found: KubeConfig): KubeConfig {
  const { cluster, user } = found;
  const fault = (what: string, name: string, why: string): KubeConfigError =>
    new KubeConfigError(`${what} "${name}" ${why}`);
  const hasCa = cluster.caFile !== undefined || cluster.caData !== undefined;
  if (cluster.skipTLSVerify === true && hasCa)
    throw fault(
      "cluster",
      cluster.name,
      "has insecure-skip-tls-verify and a certificate-authority: one of them must be removed",
    );
  const hasCert = user.certFile !== undefined || user.certData !== undefined;
  const hasKey = user.keyFile !== undefined || user.keyData !== undefined;
  if (hasCert && !hasKey)
    throw fault(
      "user",
      user.name,
      "has client-certificate without client-key: client-key or client-key-data must be set",
    );
  const twice = (what: string, name: string, field: string): KubeConfigError =>
    fault(what, name, `has ${field} and ${field}-data: one of them must be removed`);
  if (cluster.caFile !== undefined && cluster.caData !== undefined)
    throw twice("cluster", cluster.name, "certificate-authority");
  if (user.certFile !== undefined && user.certData !== undefined)
    throw twice("user", user.name, "client-certificate");
  // Without a certificate the key is not used, and kubectl does not look at it.
  if (hasCert && user.keyFile !== undefined && user.keyData !== undefined)
    throw twice("user", user.name, "client-key");
  if (user.exec !== undefined && user.authProvider !== undefined)
    throw fault("user", user.name, "has exec and auth-provider: one of them must be removed");
  const isBasic = user.username !== undefined || user.password !== undefined;
  if (user.token !== undefined && isBasic)
    throw fault("user", user.name, "has a token and a username or password: only one is allowed");
  return found;
}

function proxied(found: KubeConfig, env: NonNullable<KubeConfigOptions["env"]>): KubeConfig {
  const proxyUrl = found.cluster.proxyUrl ?? environmentProxy(found.cluster.server, env);
  return proxyUrl === undefined ? found : { ...found, cluster: { ...found.cluster, proxyUrl } };
}

function impersonating(
  found: KubeConfig,
  { as, asGroups = [], overrides }: Pick<KubeConfigOptions, "as" | "asGroups" | "overrides">,
): KubeConfig {
  const asUid = overrides?.asUid;
  const user = {
    ...found.user,
    ...(as !== undefined && { impersonateUser: as }),
    ...(asUid !== undefined && { impersonateUid: asUid }),
    ...(asGroups.length > 0 && { impersonateGroups: asGroups }),
  };
  const { impersonateUser, impersonateUid, impersonateGroups, impersonateExtra } = user;
  if (impersonateUser !== undefined || !(impersonateUid ?? impersonateGroups ?? impersonateExtra))
    return { ...found, user };
  throw new KubeConfigError(
    asGroups.length > 0 || asUid !== undefined
      ? `${asUid === undefined ? "--as-group" : "--as-uid"} needs --as: name the user to impersonate`
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
function usualFiles(
  env: Readonly<Record<string, string | undefined>>,
  server?: string,
): readonly string[] {
  const list = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (list.length > 0) {
    const present = list.filter((file) => existsSync(file));
    return present.length > 0 ? present : list.slice(0, 1);
  }
  const file = join(env["HOME"] ?? homedir(), ".kube", "config");
  if (!existsSync(file) && server !== undefined) return [];
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

function select(
  part: KubeConfigFile,
  wanted: string | undefined,
  files: string,
  flags: ConnectionOverrides,
): KubeConfig {
  const kubeconfig = `kubeconfig "${files}"`;
  const name = wanted ?? part.currentContext;
  if (name === undefined && (flags.server ?? flags.cluster) !== undefined)
    return { ...entriesOf(part, {}, `${kubeconfig} has no`, files, flags) };
  if (name === undefined)
    throw new KubeConfigError(`${kubeconfig} has no current-context; name one with --context`);
  const context = part.contexts.find((entry) => entry.name === name);
  if (context === undefined)
    throw new KubeConfigError(
      `${kubeconfig} has no context "${name}"; it has ${list(part.contexts)}`,
    );
  const names = `context "${name}" of ${kubeconfig} names`;
  const { cluster, user } = entriesOf(part, context, names, files, flags);
  return context.namespace === undefined
    ? { context: name, cluster, user }
    : { context: name, cluster, user, namespace: context.namespace };
}

/** The cluster and the user of a context, or those that flags name. */
function entriesOf(
  part: KubeConfigFile,
  context: { readonly cluster?: string; readonly user?: string },
  names: string,
  files: string,
  flags: ConnectionOverrides,
): Pick<KubeConfig, "cluster" | "user"> {
  const clusterName = flags.cluster ?? context.cluster;
  const userName = flags.user ?? context.user;
  const { server } = flags;
  if (clusterName === undefined && server === undefined)
    throw new KubeConfigError(`${names} no cluster`);
  const whose = (flag: string | undefined, kind: string): string =>
    flag === undefined ? `${names} ${kind}` : `--${kind} names ${kind}`;
  const entry: ClusterEntry =
    clusterName === undefined
      ? { name: "--server" }
      : named(part.clusters, clusterName, whose(flags.cluster, "cluster"));
  const user =
    userName === undefined ? ANONYMOUS : named(part.users, userName, whose(flags.user, "user"));
  return { cluster: { ...entry, server: server ?? serverOf(entry, files) }, user };
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
  return checkedServer(server, `${where} server`);
}

function checkedServer(server: string, where: string): string {
  if (URL.canParse(server) && /^https?:/i.test(server))
    return server.replace(/^https?/i, (scheme) => scheme.toLowerCase());
  // A server may contain a password.
  const shown = server.replace(/^([^/?#]*:\/\/)?.*@/s, "$1…@");
  throw new KubeConfigError(`${where} "${shown}", which is no http(s) URL`);
}

function list(entries: readonly { readonly name: string }[]): string {
  const names = entries.slice(0, 10).map((entry) => `"${entry.name}"`);
  if (names.length === 0) return "none";
  return names.join(", ") + (entries.length > 10 ? ", …" : "");
}
