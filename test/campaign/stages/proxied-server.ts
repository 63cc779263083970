// An API server, in memory or a control plane of its own, and the fault proxy through which the controller
// reaches it. The judges and the users go past the proxy.
import { readFileSync } from "node:fs";
import { loadKubeConfig, type KubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { startSandbox } from "../../../packages/sandbox/server.ts";
import { controllerAccount } from "../../support/api-server/account.ts";
import { openCluster } from "../../support/api-server/cluster.ts";
import {
  startControlPlane,
  type ControlPlane,
  type Setup,
} from "../../support/api-server/control-plane.ts";
import {
  startFaultProxy,
  type Ending,
  type FaultProxy,
  type Upstream,
} from "../../../packages/kube/testing/fault-proxy.ts";
import { field, openHttp, type Http } from "../../../packages/sandbox/testing/http.ts";
import { kubeConfigFile, kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";

export type ProxiedServer = {
  readonly proxy: FaultProxy;
  /** Kubeconfig of the controller's account, by way of the proxy. */
  readonly kubeconfig: string;
  /** The administrator's. */
  readonly admin: Http;
  readonly client: ApiClient;
};

const HISTORY = 2000;

/** What `act` begins ends in reverse order, however `act` itself ends. */
export async function withEndings<T>(act: (endings: Ending) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await act({ after: (end) => void ends.unshift(end) });
  } finally {
    for (const end of ends) await end();
  }
}

export async function proxiedCluster(
  assets: string,
  endings: Ending,
  setup: Setup = {},
): Promise<ProxiedServer & { readonly cluster: ControlPlane }> {
  const cluster = await startControlPlane(assets, setup);
  endings.after(() => cluster.stop());
  const config: unknown = JSON.parse(readFileSync(await controllerAccount(cluster), "utf8"));
  // The controller's credentials go on with each request.
  const authorization = `Bearer ${String(field(config, "users", 0, "user", "token"))}`;
  const ca = readFileSync(cluster.caFile, "utf8");
  const upstream = { url: cluster.url, headers: { authorization }, ca, keepAlive: true };
  const access = loadKubeConfig({ kubeconfig: cluster.kubeconfig });
  return { cluster, ...(await proxied(endings, upstream, access, openCluster(cluster))) };
}

export async function proxiedSandbox(endings: Ending): Promise<ProxiedServer> {
  const sandbox = await startSandbox({ historyLimit: HISTORY });
  endings.after(() => sandbox.stop());
  const { url } = sandbox;
  return proxied(endings, { url }, kubeConfigFor(url), openHttp({ url }));
}

async function proxied(
  endings: Ending,
  upstream: Upstream,
  access: KubeConfig,
  admin: Http,
): Promise<ProxiedServer> {
  endings.after(() => admin.close());
  const proxy = await startFaultProxy(endings, upstream);
  const client = createClient(access, { clock: systemClock, userAgent: "campaign" });
  endings.after(() => client.close());
  return { proxy, kubeconfig: kubeConfigFile(endings, kubeConfigFor(proxy.url)), admin, client };
}
