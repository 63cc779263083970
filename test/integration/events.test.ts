// Every Event of the public list, on the Secret it is about, as kubectl shows them to its owner
// (`kubectl describe secret` lists no Events; `kubectl events --for` does).
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { ofSecrets as secretsOnly } from "../support/scenes/scenario-end.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { Kubectl, kubectlMissing } from "../support/api-server/kubectl.ts";
import { LIST, openListing } from "../support/scenes/listing.ts";
import { openScene } from "../support/scenes/scene.ts";
import { eventNotes, rowAt } from "../support/scenes/told.ts";

const DATA = { password: "one" };

test("kubectl shows a source's owner what was copied, blocked and refused", async (t) => {
  const missing = kubectlMissing();
  if (missing) return t.skip(missing);
  const scene = await openScene(t);
  const config = scene.sandbox ? scene.kubeconfig : sharedCluster().kubeconfig;
  const kubectl = new Kubectl(readFileSync(config, "utf8"));
  t.after(() => kubectl.close());
  const shown = (name: string): Promise<string> =>
    kubectl.run(["events", "--for", `${scene.api.kind.toLowerCase()}/${name}`, "-n", scene.source]);
  await scene.namespace("team-a");
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: { mine: "x" } });
  const to = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { annotations: to, data: DATA });
  const mistyped = { ...to, "secretcast.io/to-selecter": "a=b" };
  await scene.api.createSecret(scene.source, "wrong", { annotations: mistyped, data: DATA });
  scene.start();
  await scene.holds(scene.name("team-a"), "registry", DATA);
  for (const [name, line] of [
    [
      "registry",
      new RegExp(`Normal +Copied .*copied to 1 namespace \\(${scene.name("team-a")}\\)`),
    ],
    ["registry", new RegExp(`Warning +Conflict .*not copied to 1 namespace \\(${taken}\\)`)],
    ["wrong", /Warning +Refused .*secretcast\.io\/to-selecter/],
  ] as const)
    await eventually(`kubectl shows ${line.source}`, async () => line.test(await shown(name)));
});

test("a corrected typo is reported as recovered, and an outside request as ignored", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  const to = { "secretcast.io/to": scene.name("team-*") };
  const accept = { annotations: { "secretcast.io/accept": "some times" } };
  const odd = await scene.namespace("odd", accept);
  const mistyped = { ...to, "secretcast.io/to-selecter": "a=b" };
  await scene.api.createSecret(scene.source, "registry", { annotations: mistyped, data: DATA });
  await scene.unmanaged(team, "mine", { annotations: to, data: DATA });
  scene.start();
  const reported = (
    namespace: string,
    name: string,
    reason: string,
    kind: string = scene.api.kind,
  ): Promise<unknown> =>
    eventually(`${reason} is told`, async () => {
      const found = await eventNotes(scene, namespace, name, reason, kind);
      return found.length > 0;
    });
  await reported(scene.source, "registry", "Refused");
  await reported(team, "mine", "Ignored");
  // Of a namespace they lie in `default`.
  await reported("default", odd, "Ignored", "Namespace");
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/to-selecter": null });
  await reported(scene.source, "registry", "Recovered");
  await scene.holds(team, "registry", DATA);
});

secretsOnly("the owner of a forged pulling Secret learns nothing of other Secrets", async (t) => {
  const listing = await openListing(t);
  const { scene } = listing;
  const vault = await scene.namespace("vault");
  const tenant = await scene.namespace("tenant");
  await scene.api.createSecret(vault, "payroll", { data: DATA });
  await scene.api.createSecret(vault, "twin-of-payroll", { data: DATA });
  await scene.api.createSecret(vault, "token", {
    annotations: { "secretcast.io/from": `${vault}/payroll`, "secretcast.io/keys": "pin=" },
  });
  await listing.write({
    payroll: `secret: ${vault}/payroll\nto: "acquisition-of-ACME"`,
    twin: `secret: ${vault}/twin-of-payroll\nto: shop`,
    twin2: `secret: ${vault}/twin-of-payroll\nto: shop`,
  });
  const forged = { payroll: "payroll", "twin-of-payroll": "twin", token: "other" };
  for (const [name, entry] of Object.entries(forged))
    await scene.api.createSecret(tenant, `of-${name}`, {
      annotations: {
        "secretcast.io/from": `${vault}/${name}`,
        "secretcast.io/placed-at": `${tenant}/of-${name}`,
        "secretcast.io/source-uid": "0a0a0a0a-0000-4000-8000-00000000000a",
        "secretcast.io/source-version": "1",
        "secretcast.io/entry": entry,
      },
      data: { mine: "x" },
    });
  const running = scene.start();
  for (const name of Object.keys(forged)) {
    const notes = await eventually(`the owner of of-${name} is told`, async () => {
      const found = await eventNotes(scene, tenant, `of-${name}`, "Refused");
      return found.length > 0 && found;
    });
    assert.deepEqual(notes, [
      `there is no source ${vault}/${name}, or it does not allow this namespace`,
    ]);
    for (const reason of ["Conflict", "Failed", "Ignored"])
      assert.deepEqual(await eventNotes(scene, tenant, `of-${name}`, reason), []);
  }
  const row = rowAt(running.settled(), `${tenant}/of-payroll`);
  assert.match(whyOf(row), /^invalid entry payroll: /, "the administrator reads the reason");
  const [note = ""] = await eventNotes(scene, listing.own, LIST, "Refused", "ConfigMap");
  assert.match(note, /acquisition-of-ACME/);
});
