// Where it is unclear which Deployment is the controller, no command judges by the defaults as if they were its flags.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DEPLOYMENTS, installedFront } from "../support/scenes/installed-front.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { openScene } from "../support/scenes/scene.ts";

test("a tenant's Deployments make verdicts unknown, with what to pass, and never exit code 0", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "db", {
    annotations: { "secretcast.io/to": team },
    data: { k: "v" },
  });
  const front = await installedFront(t, scene);
  const items = Array.from({ length: 60 }, (_, n) => ({
    metadata: { namespace: "aaa-evil", name: `c-${n}` },
    spec: { template: { spec: { containers: [{ name: "secretcast", args: ["run"] }] } } },
  }));
  front.answers.set(DEPLOYMENTS, { status: 200, body: { kind: "DeploymentList", items } });
  const given = ["--kubeconfig", front.kubeconfig];
  for (const command of [["plan"], ["status"], ["explain", "db", "-n", scene.source]]) {
    const { code, stdout, stderr } = await commandLine([...command, ...given]);
    assert.equal(code, 1, command[0]);
    assert.doesNotMatch(stdout, /\b(create|current|frozen)\b/, command[0]);
    assert.match(stderr, /pass --lease-namespace, or --source-namespaces/, command[0]);
  }
  const flags = [`--source-namespaces=${scene.source}`];
  const known = await commandLine(["plan", ...given, ...flags]);
  assert.equal(known.code, 2, known.stderr);
  assert.match(known.stdout, /^create /m);
});
