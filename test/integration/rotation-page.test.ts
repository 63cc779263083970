// docs/rotation.md: the commands about the old value are typed as they stand, on the sandbox and on a real API
// server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import { codeBlocks } from "../support/documents/markdown.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

const PAGE = readFileSync(new URL("../../docs/rotation.md", import.meta.url), "utf8");

test("the page's commands exit with 2 for an old copy, and with 0 for none", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team");
  const data = { token: "made-up" };
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": team },
    data,
  });
  const lines = codeBlocks(PAGE, "May the old value be revoked?").flatMap(({ text }) =>
    text.trim().split("\n"),
  );
  // The controller's account may not list Pods, and the user may.
  const kubeconfig = scene.sandbox ? scene.kubeconfig : sharedCluster().kubeconfig;
  const type = (line: string) => {
    const [program, ...words] = line
      .replace("-n secretcast", `-n ${scene.source}`)
      .replace("--timeout 10m", "--timeout 60s")
      .split(" ");
    assert.equal(program, "secretcast");
    const own = ["--kubeconfig", kubeconfig, "--source-namespaces", scene.source];
    return commandLine([...words, ...own]);
  };
  const [once = "", waiting = "", ...others] = lines;
  assert.deepEqual(others, []);
  const early = await type(once);
  assert.equal(early.code, 2, early.stderr);
  assert.match(early.stdout, new RegExp(`^${team} +registry +copy +absent +create `, "m"));
  scene.start();
  const remove = await placeLiveLease(scene.api);
  const waited = await type(waiting);
  await remove();
  assert.equal(waited.code, 0, waited.stderr);
  assert.match(
    waited.stdout,
    new RegExp(`^${team} +registry +copy +present +\\S+Z +current `, "m"),
  );
  assert.match(waited.stderr, /^safe to revoke: 2 places have the present value/m);
  assert.ok(!waited.stdout.includes("made-up"));
});
