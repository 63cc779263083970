// Chaos on a control plane of its own, in real time: script after script, each beginning in the world that
// the one before left.
import * as fc from "fast-check";
import { createClient } from "../../src/kube/rest/client.ts";
import { loadKubeConfig } from "../../src/kube/kubeconfig/kubeconfig.ts";
import { systemClock } from "../../src/kube/time/clock.ts";
import { compact } from "../support/api-server/cluster.ts";
import { startControlPlane } from "../support/api-server/control-plane.ts";
import type { ChaosOptions } from "./chaos.ts";
import { OWN_NAMESPACE } from "./actors/actors.ts";
import { ClusterStage } from "./stages/cluster-stage.ts";
import { drawn } from "./scripts/draw.ts";

/** Long ones: each ends with a wait for quiet in real time. */
const [SHORTEST, LONGEST] = [300, 900];

/** Resolves with whether nothing was wrong. A run is not shrunk: the next script begins where it ended. */
export async function clusterChaos(assets: string, options: ChaosOptions): Promise<boolean> {
  const { minutes, seed, draw, runs, print } = options;
  print(`--cluster --seed ${seed} --draw ${draw}`);
  const cluster = await startControlPlane(assets);
  const access = loadKubeConfig({ kubeconfig: cluster.kubeconfig });
  const client = createClient(access, { clock: systemClock, userAgent: "chaos" });
  const over = new AbortController();
  try {
    let compactions = 0;
    const forget = async (): Promise<void> => {
      // Of what was compacted already, etcd takes no compaction.
      const body = { metadata: { annotations: { compactions: String(++compactions) } } };
      const contentType = "application/merge-patch+json";
      const path = `/api/v1/namespaces/${OWN_NAMESPACE}`;
      await client.request({ method: "PATCH", path, body, contentType, what: "a new revision" });
      await compact(cluster);
    };
    const stage = new ClusterStage(client, {
      compact: forget,
      killApiServer: () => cluster.restartApiServer({ signal: "SIGKILL" }),
      killEtcd: () => cluster.restartEtcd("SIGKILL"),
    });
    await stage.begin(over.signal);
    const until = performance.now() + minutes * 60_000;
    let [played, steps, writes, kills] = [0, 0, 0, 0];
    while (played < runs && performance.now() < until) {
      const [script] = fc.sample(drawn(draw, SHORTEST, LONGEST), {
        seed: seed + played,
        numRuns: 1,
      });
      if (!script) break;
      const end = await stage.play(script);
      played++;
      steps += script.steps.length;
      writes += end.writes;
      kills += end.kills;
      for (const what of end.wrong) print(`script ${seed + played - 1}: ${what}`);
      if (end.wrong.length > 0) return false;
      print(
        `${played} scripts, ${steps} operations, ${writes} writes, ${kills} kills of the server so far, nothing wrong`,
      );
    }
    return true;
  } finally {
    over.abort();
    await client.close();
    await cluster.stop();
  }
}
