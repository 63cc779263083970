// What a reader may copy into a shell.
import assert from "node:assert/strict";
import { test } from "node:test";
import { leaderPageCommand } from "../../src/page/leader-page.ts";
import { newIdentity } from "../../packages/kube/leaderelection/leader-elector.ts";

const UUID = "0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f";
const OWN = { namespace: "secretcast", hostname: "secretcast-7d4f8b9c5-x2x4z", port: 8081 };

test("the leader's page is a port-forward to the pod that the Lease names", () => {
  assert.equal(
    leaderPageCommand(`secretcast-7d4f8b9c5-abcde_${UUID}`, OWN),
    "kubectl port-forward -n secretcast pod/secretcast-7d4f8b9c5-abcde 8081",
  );
  const newer = leaderPageCommand(`secretcast-55c6d7f8f-abcde_${UUID}`, { ...OWN, port: 9000 });
  assert.match(newer ?? "", /pod\/secretcast-55c6d7f8f-abcde 9000$/, "a roll-out is under way");
});

test("no command is made of a holder that is no pod of the same Deployment", () => {
  const pod = "secretcast-7d4f8b9c5-abcde";
  for (const holder of [
    "",
    pod,
    `${pod}_${UUID}; rm -rf ~`,
    `${pod};id_${UUID}`,
    `$(id)-a-b_${UUID}`,
    `${pod}\n_${UUID}`,
    `other-7d4f8b9c5-abcde_${UUID}`,
    `laptop_${UUID}`,
    `secretcast-7d4f8b9c5-${"a".repeat(80)}_${UUID}`,
  ])
    assert.equal(leaderPageCommand(holder, OWN), undefined, JSON.stringify(holder));
  assert.equal(leaderPageCommand(`${pod}_${UUID}`, { ...OWN, hostname: "laptop" }), undefined);
  assert.equal(leaderPageCommand(`${pod}_${UUID}`, { ...OWN, port: 0 }), undefined);
});

test("the form of an identity is the one that the elector gives itself", () => {
  const uuid = newIdentity().split("_").at(-1);
  assert.ok(leaderPageCommand(`secretcast-7d4f8b9c5-abcde_${uuid}`, OWN));
});
