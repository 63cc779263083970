// A pulling Secret that only a look at it can call current: its `keys` is too long to be kept.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

const KEYS = ["crt", ...Array.from({ length: 90 }, (_, at) => `${"long-".repeat(10)}${at}-*`)];

test("explain, rotation and plan --expect call it current as the plan does", async (t) => {
  const place = { namespace: "team-a", name: "pulled" };
  const { run, kubeconfig } = await sandboxCluster(
    t,
    [
      ...["shared", "team-a"].map((name) => ({ kind: "Namespace", metadata: { name } })),
      {
        kind: "Secret",
        metadata: {
          namespace: "shared",
          name: "offer",
          annotations: { "secretcast.io/allow": "team-*" },
        },
        data: { crt: "dg==" },
      },
      {
        kind: "Secret",
        metadata: {
          ...place,
          annotations: { "secretcast.io/from": "shared/offer", "secretcast.io/keys": KEYS.join() },
        },
      },
    ],
    { leads: false },
  );
  const flags = ["--source-namespaces", "shared"];
  const filled = await run([
    "run",
    "--once",
    "--kubeconfig",
    kubeconfig,
    "--leader-elect=false",
    "--http-address=127.0.0.1:0",
    "--status-address=127.0.0.1:0",
    ...flags,
  ]);
  assert.equal(filled.code, 0, filled.stderr);
  const folder = mkdtempSync(join(tmpdir(), "secretcast-expected-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const items = [{ resource: "secrets", ...place, source: "shared/offer", verdict: "current" }];
  const list = { apiVersion: "cli.secretcast.io/v1alpha1", kind: "PlanList", items };
  writeFileSync(join(folder, "expected.json"), JSON.stringify(list));
  const expected = await run(["plan", "--expect", join(folder, "expected.json"), ...flags]);
  const explained = await run(["explain", "pulled", "-n", "team-a", ...flags]);
  const rotation = await run(["rotation", "offer", "-n", "shared", "-o", "json", ...flags]);
  assert.match(explained.stdout, /^Secret team-a\/pulled: .*\ncurrent/);
  assert.equal(expected.code, 0, expected.stdout + expected.stderr);
  assert.match(rotation.stdout, /"verdict": "current"/);
  assert.doesNotMatch(rotation.stdout, /"verdict": "update"/);
});
