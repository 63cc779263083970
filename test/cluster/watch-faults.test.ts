// The faults of watches before a real API server: what the informer makes of its answers, cut, late,
// refused or replaced, must not hang on how our own server words them.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createClient } from "../../packages/kube/rest/client.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { NAMESPACES, resourcePath } from "../../packages/kube/rest/resource.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import type { Served } from "../support/kube/fault-world.ts";
import { kubeConfigFor } from "../../packages/kube/testing/kubeconfig-text.ts";
import { FAULTS } from "../support/kube/watch-faults.ts";

let made = 0;

/** A namespace of its own for one test. */
async function serve(t: TestContext): Promise<Served> {
  const { url, token, caFile } = sharedCluster();
  const config = kubeConfigFor(url, { token }, { caFile });
  const api = createClient(config, { clock: systemClock, userAgent: "test" });
  const namespace = `watch-faults-${++made}`;
  const body = { metadata: { name: namespace } };
  const path = resourcePath(NAMESPACES);
  await api.request({ method: "POST", path, body, what: `create namespace ${namespace}` });
  t.after(async () => {
    const own = resourcePath(NAMESPACES, undefined, namespace);
    await api.request({ method: "DELETE", path: own, what: `delete namespace ${namespace}` });
    await api.close();
  });
  return { url, token, ca: readFileSync(caFile, "utf8"), namespace };
}

for (const { name, run } of FAULTS) test(name, async (t) => run(t, await serve(t)));
