// A program of its own for a test: asks for /version with each of the kubeconfigs in its argument, a
// list of KubeConfigOptions as JSON, in turn.
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import type { KubeConfigOptions } from "../../../packages/kube/kubeconfig/kubeconfig.ts";

const asked: readonly KubeConfigOptions[] = JSON.parse(process.argv[2] ?? "[]");
for (const options of asked) {
  const client = createClient(loadKubeConfig(options), { clock: systemClock, userAgent: "ask" });
  await client.request({ method: "GET", path: "/version", what: "get version" });
  await client.close();
}
