// A real webhook that hangs, refuses, fails or asks for patience in a quarter of the namespaces, and a
// fresh namespace beside them.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { publishAll } from "../support/scenes/publish.ts";
import { openScene } from "../support/scenes/scene.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { SICK, Webhook, WEBHOOK_FAULTS } from "../support/api-server/webhook.ts";

const NAME = "secretcast-isolation";
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

let webhook: Webhook;
let http: Http;

before(async () => {
  webhook = await Webhook.start();
  http = openCluster(sharedCluster());
  // Longer than all the fresh namespaces take. What hung goes on for as long after it is well.
  const body = webhook.configuration(NAME, 10);
  assert.equal((await http.send("POST", CONFIGURATIONS, { body })).status, 201);
});
after(async () => {
  webhook.fault = "none";
  await http.send("DELETE", `${CONFIGURATIONS}/${NAME}`);
  await http.close();
  await webhook.stop();
});

for (const fault of WEBHOOK_FAULTS.slice(1))
  test(`a quarter of namespaces with a ${fault} webhook delays no other`, async (t) => {
    const scene = await openScene(t);
    const teams = Array.from({ length: 16 }, (_, n) => n);
    for (const n of teams) await scene.namespace(`team-${n}`, n % 4 === 0 ? { labels: SICK } : {});
    webhook.fault = "none";
    await publishAll(scene, scene.source, { one: { to: scene.name("team-*") } });
    const running = scene.start();
    await eventually("all have it", () => running.settled()?.states.current === teams.length);
    webhook.fault = fault;
    await publishAll(scene, scene.source, {
      two: { to: scene.name("team-*") },
      three: { to: scene.name("team-*") },
    });
    const slow: number[] = [];
    for (let n = 0; n < 5; n++) {
      const began = performance.now();
      await scene.namespace(`team-fresh-${n}`);
      await scene.holds(scene.name(`team-fresh-${n}`), "two", { password: "one" });
      slow.push(performance.now() - began);
    }
    t.diagnostic(`fresh namespaces took ${slow.map(Math.round).join(", ")} ms`);
    assert.deepEqual(running.live(), []);
    webhook.fault = "none";
    await eventually(
      "the quarter is served too",
      () => running.settled()?.states.current === 3 * (teams.length + 5),
      60_000,
    );
  });
