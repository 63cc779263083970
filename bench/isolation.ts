// A fresh namespace's copies on a real API server while a quarter of the namespaces is in trouble: their
// webhook hangs, refuses, fails or asks for patience, and sources are updated all the time.
import { setTimeout as delay } from "node:timers/promises";
import { SICK, Webhook, WEBHOOK_FAULTS } from "../test/support/api-server/webhook.ts";
import { calm, FLAGS, inParallel, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { freshNamespace, watchCopies } from "./fresh.ts";
import { Program } from "./program.ts";
import { median, quantile, type Bench } from "./scorecard.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const SETUP_CONCURRENCY = 16;

export const isolation: Bench = {
  name: "isolation",
  about: "a fresh namespace's copy while a quarter of the namespaces hangs, refuses or fails",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const webhook = await Webhook.start();
    how.after(() => webhook.stop());
    await cluster.send("POST", CONFIGURATIONS, webhook.configuration("isolation"));
    const teams = numbered("team", how.quick ? 20 : 200);
    await inParallel(teams.entries(), SETUP_CONCURRENCY, async ([at, name]) => {
      const labels = at % 4 === 0 ? SICK : {};
      await cluster.send("POST", "/api/v1/namespaces", { metadata: { name, labels } });
    });
    await cluster.publish("first", "*");
    for (const name of numbered("more", 5)) await cluster.publish(name, "*");
    await calm();
    const controller = new Program(how, cluster.kubeconfig, FLAGS);
    await controller.said("synced", 0, 120_000);
    const seen = watchCopies(how, cluster);
    for (const fault of WEBHOOK_FAULTS) {
      webhook.fault = fault;
      const took: number[] = [];
      for (const at of Array.from({ length: how.quick ? 5 : 100 }).keys()) {
        if (at % 10 === 0) await rotate(cluster, `${fault} ${at}`);
        const name = `fresh-${fault.replaceAll(" ", "-")}-${at}`;
        took.push(await freshNamespace(cluster, seen, name));
        await delay(50);
      }
      const who = fault === "none" ? "all well" : `a quarter ${fault}`;
      how.figure(`${who}, median`, median(took), "ms");
      how.figure(`${who}, p99`, quantile(took, 0.99), "ms", { atMost: 1000 });
    }
  },
};

/** One source changes for all. */
async function rotate(cluster: RealCluster, value: string): Promise<void> {
  await cluster.send("PATCH", "/api/v1/namespaces/shared/secrets/more-0", {
    stringData: { value },
  });
}
