// An API server, in memory or a control plane of its own, and the fault proxy through which the controller
// reaches it. The judges and the users go past the proxy.
import { readFileSync } from "node:fs";
import { loadKubeConfig } from "../../../src/kube/kubeconfig/kubeconfig.ts";
import type { ApiClient } from "../../../src/kube/rest/api-client.ts";
import { createClient } from "../../../src/kube/rest/client.ts";
import { systemClock } from "../../../src/kube/time/clock.ts";
import { startSandbox } from "../../../src/sandbox/server.ts";
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
} from "../../support/api-server/fault-proxy.ts";
import { field, openHttp, type Http } from "../../support/api-server/http.ts";
import { kubeConfigFile, kubeConfigFor } from "../../support/kube/kubeconfig-text.ts";

export type ProxiedServer = {
  readonly proxy: FaultProxy;
  /** Kubeconfig of the controller's account, by way of the proxy. */
  readonly kubeconfig: string;
  /** The administrator's. */
  readonly admin: Http;
  readonly client: ApiClient;
};

const HISTORY = 2000;

/** What is begun ends in reverse order. */
export function reversed(): { readonly endings: Ending; readonly close: () => Promise<void> } {
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0)) await end();
  };
  return { endings: { after: (end) => void ends.unshift(end) }, close };
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
  const proxy = await startFaultProxy(endings, upstream);
  const admin = openCluster(cluster);
  endings.after(() => admin.close());
  const client = createClient(loadKubeConfig({ kubeconfig: cluster.kubeconfig }), {
    clock: systemClock,
    userAgent: "campaign",
  });
  endings.after(() => client.close());
  const kubeconfig = kubeConfigFile(endings, kubeConfigFor(proxy.url));
  return { cluster, proxy, kubeconfig, admin, client };
}

export async function proxiedSandbox(endings: Ending): Promise<ProxiedServer> {
  const sandbox = await startSandbox({ historyLimit: HISTORY });
  endings.after(() => sandbox.stop());
  const proxy = await startFaultProxy(endings, { url: sandbox.url });
  const admin = openHttp({ url: sandbox.url });
  endings.after(() => admin.close());
  const options = { clock: systemClock, userAgent: "campaign" };
  const client = createClient(kubeConfigFor(sandbox.url), options);
  endings.after(() => client.close());
  const kubeconfig = kubeConfigFile(endings, kubeConfigFor(proxy.url));
  return { proxy, kubeconfig, admin, client };
}
