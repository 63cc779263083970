// The faults of watches (support/kube/watch-faults.ts holds the cases) before the sandbox.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { startSandbox } from "../../../packages/sandbox/server.ts";
import type { Sandbox } from "../../../packages/sandbox/server.ts";
import { filled, first, kinds, watchEnded } from "../../support/kube/fault-world.ts";
import type { Served } from "../../support/kube/fault-world.ts";
import { FAULTS } from "../../support/kube/watch-faults.ts";

async function sandboxFor(t: TestContext): Promise<Sandbox> {
  const sandbox = await startSandbox({});
  t.after(() => sandbox.stop());
  return sandbox;
}

const served = ({ url }: Sandbox): Served => ({ url, namespace: "default" });

for (const { name, run } of FAULTS) test(name, async (t) => run(t, served(await sandboxFor(t))));

test("the server's own compaction is recovered from", async (t) => {
  const sandbox = await sandboxFor(t);
  const w = await filled(t, served(sandbox));
  w.proxy.rule = first(1, "watch", { kind: "reset" });
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.remove("one");
  sandbox.compact();
  await w.converged();
  assert.equal(kinds(w.proxy).at(-1), "stream");
});
