// An API server under Priority & Fairness pressure: the level that service accounts share has few
// seats and is flooded. With the component lease-priority the leader keeps its Lease while its writes
// are refused, obeys, and does the rest when the pressure is over.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { LEASE_TIMES } from "../../src/controller/settings/config.ts";
import { controllerToken } from "../support/api-server/account.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { LeaseWitness, prioritizeLease, refusals } from "../support/api-server/lease-witness.ts";
import { Flood, floodAccount, squeezeWorkloadLow } from "../support/api-server/pressure.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

const COPIES = 40;
// Retry-After grows to 32 s under such a flood; after it the writes begin again.
const CALM_AGAIN_MS = 120_000;

test("API-50 a flooded API server refuses our writes for two renew deadlines and never our Lease", async (t) => {
  const scene = await openScene(t);
  const cluster = sharedCluster();
  const admin = openCluster(cluster);
  const cleaning: (() => unknown)[] = [() => admin.close()];
  t.after(async () => {
    for (const clean of cleaning.toReversed()) await clean();
  });
  cleaning.push(await prioritizeLease(cluster, admin, controllerToken(cluster)));
  const places = await Promise.all(
    Array.from({ length: COPIES }, (_, at) => scene.namespace(`team-${at}`)),
  );
  const account = await floodAccount(cluster, admin, await scene.namespace("flood"));
  cleaning.push(() => account.remove());
  const controller = spawnController(t, scene.kubeconfig, {
    "source-namespaces": scene.source,
    "leader-elect": "true",
    "lease-namespace": "secretcast",
  });
  const says = (message: string): boolean =>
    controller.log.some((line) => field(line, "msg") === message);
  await eventually("it leads", () => says("leading"));

  const release = await squeezeWorkloadLow(admin, "refused");
  cleaning.push(release);
  const flood = new Flood(account);
  cleaning.push(() => flood.stop());
  await eventually("the flood is refused", () => flood.bulk.refused > 50);
  const refusedLeases = (): number => refusals(cluster).get("leases") ?? 0;
  const before = refusedLeases();
  const witness = new LeaseWitness(admin);
  cleaning.push(() => witness.stop());
  await scene.api.createSecret(scene.source, "s", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { k: "v" },
  });
  const refused = (): Promise<number> =>
    controller.metric("rest_client_requests_total", 'method="POST",code="429"');
  await eventually("our writes are refused", async () => (await refused()) > 0);
  await delay(2 * LEASE_TIMES.renewDeadlineMs);
  const stillRefused = flood.bulk;
  await Promise.all([witness.stop(), flood.stop()]);
  await release();

  t.diagnostic(
    `429: ${stillRefused.refused} of ${stillRefused.sent} requests of the flood, ${flood.renewals.refused} of ${flood.renewals.sent} renewals of its own Lease, ${await refused()} writes of ours; our Lease: ${witness.renewals} renewTimes, the oldest ${Math.round(witness.oldestMs)} ms`,
  );
  assert.equal(witness.holders.length, 1, "one leader all the while");
  assert.ok(
    witness.oldestMs < LEASE_TIMES.renewDeadlineMs,
    `a renewTime ${witness.oldestMs} ms old`,
  );
  assert.ok(witness.renewals >= 6, `${witness.renewals} renewals in two renew deadlines`);
  assert.equal(refusedLeases(), before, "no renewal was refused");
  // Now and then one finds a seat that has just become free.
  assert.ok(flood.renewals.refused > flood.renewals.sent / 10, "a Lease without priority suffers");
  assert.ok(stillRefused.refused > stillRefused.sent / 2, "it was a flood");
  assert.ok(!says("the lease is lost, another replica may be leading"));

  const copies = (): Promise<number> => controller.metric("secretcast_copies", 'state="current"');
  await eventually("the rest is copied", async () => (await copies()) === COPIES, CALM_AGAIN_MS);
  for (const place of places) await scene.holds(place, "s", { k: "v" });
  assert.equal(await controller.stop(), 0);
});
