// One pass by itself, with a pipe and an API of the test's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Apply } from "../src/apply.ts";
import type { ApiClient } from "../src/kube/client.ts";
import { createLog } from "../src/log.ts";
import { WritePipe } from "../src/pipe.ts";
import { Reporter } from "../src/report.ts";
import { Sync, type ActionWrite } from "../src/sync.ts";
import { FakeClock } from "./support/clock.ts";
import { Cluster } from "./support/world.ts";

/** A pass over a cluster in which one copy is due; `permission`: ms for which writing is allowed. */
function open(permission: () => number) {
  const clock = new FakeClock();
  const cluster = new Cluster();
  cluster.namespace("shared");
  cluster.namespace("team-a");
  cluster.secret("shared/registry", { to: "team-*" });
  const sent: string[] = [];
  const request = async ({ method, path }: { method: string; path: string }) => {
    sent.push(`${method} ${path}`);
    return {};
  };
  const client = { request } as unknown as ApiClient;
  const nothing = (): void => {};
  const figures = { write: nothing, sync: nothing, repaired: nothing, propagated: nothing };
  const log = createLog({ logLevel: "error", logFormat: "json" }, { write: () => true });
  const sync: Sync = new Sync({
    world: cluster.world(),
    settings: cluster.settings,
    memory: cluster.memory,
    cache: { remember: nothing, forget: nothing },
    apply: new Apply({ client, permission, onWrite: nothing, onAbsence: nothing }),
    pipe: new WritePipe<ActionWrite>(4, clock, (write) => sync.perform(write)),
    clock,
    reporter: new Reporter(log, figures, clock),
    dryRun: false,
  });
  return { sync, sent };
}

test("LE-12 a pass that may not write asks to be run again in a second, and not at once", async () => {
  let left = 0;
  const { sync, sent } = open(() => left);
  const { settled, dueMs, waiting } = await sync.pass();
  assert.deepEqual({ settled, dueMs, waiting }, { settled: true, dueMs: 1000, waiting: true });
  assert.deepEqual(sent, []);
  left = 5000;
  assert.equal((await sync.pass()).settled, false);
  assert.deepEqual(sent, ["POST /api/v1/namespaces/team-a/secrets"]);
});

test("after an interrupt a pass plans and writes nothing", async () => {
  const { sync, sent } = open(() => Infinity);
  sync.interrupt();
  await sync.pass();
  await sync.stop();
  assert.deepEqual(sent, []);
});
