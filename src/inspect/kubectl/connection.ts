// Creates a client of the API server from kubectl's flags, with the kubeconfig, context, impersonation and
// time limit that kubectl would use.
import type { KubectlFlags } from "./kubectl-flags.ts";
import { printable } from "../../text/printable.ts";
import type { Program } from "../../run/program-context.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { loadKubeConfig, type KubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { ALWAYS_READ } from "../../controller/annotations/vocabulary.ts";

export type Connection = {
  readonly client: ApiClient;
  readonly kubeConfig: KubeConfig;
  /** Where a name without a namespace is looked for. */
  readonly namespace: string;
  /** `--request-timeout`. */
  readonly requestTimeoutMs?: number | undefined;
};

/** Sends no request yet. Throws a KubeConfigError of one line. */
export function connect(
  flags: KubectlFlags,
  program: Program,
  onClockOffset?: (offsetMs: number) => void,
): Connection {
  const { kubeConfig, home } = accessOf(flags, program);
  const client = createClient(kubeConfig, {
    clock: systemClock,
    // The audit log tells a command that somebody types from the controller, also where both have one account.
    userAgent: `secretcast/${program.version} (command line)`,
    keepKeyPrefixes: ALWAYS_READ,
    hasReader: true,
    onClockOffset,
  });
  const { requestTimeoutMs } = flags;
  return {
    client: requestTimeoutMs === undefined ? client : limited(client, requestTimeoutMs),
    kubeConfig,
    namespace: flags.namespace ?? kubeConfig.namespace ?? home ?? "default",
    requestTimeoutMs,
  };
}

/** Names the cluster, because a user with many contexts must know which cluster a table shows. */
export function serverLine({ kubeConfig: { context }, client }: Connection): string {
  const where = context === undefined ? "in the cluster" : `context ${context}`;
  return printable(`${where}, ${client.server}`);
}

// A pod without a kubeconfig is its service account, as for kubectl.
function accessOf(
  { kubeconfig, context, as, asGroups, overrides }: KubectlFlags,
  { env, clusterNamespace }: Program,
): { readonly kubeConfig: KubeConfig; readonly home: string | undefined } {
  const { cluster, user, server } = overrides;
  const named =
    [kubeconfig, context, cluster, user, server].some((given) => given !== undefined) ||
    Boolean(env["KUBECONFIG"]);
  const inCluster = clusterNamespace !== undefined && !named;
  const kubeConfig = loadKubeConfig({
    inCluster,
    kubeconfig,
    context,
    env,
    as,
    asGroups,
    overrides,
  });
  const home = inCluster ? clusterNamespace : undefined;
  return { kubeConfig, home };
}

function limited(client: ApiClient, timeoutMs: number): ApiClient {
  return {
    server: client.server,
    reachability: client.reachability,
    keepKeyPrefixes: client.keepKeyPrefixes ?? [],
    request: <T>(request: ApiRequest) => client.request<T>({ ...request, timeoutMs }),
    open: (request) => client.open({ ...request, timeoutMs }),
    close: () => client.close(),
  };
}
