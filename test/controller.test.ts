// What the probes say of a controller whose API server does not answer. Time is stepped.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { assemble } from "../src/cli/assemble.ts";
import { readConfig } from "../src/config.ts";
import type { Controller } from "../src/controller.ts";
import { ApiError } from "../src/kube/api-error.ts";
import type { ApiClient } from "../src/kube/client.ts";
import { createLog } from "../src/log.ts";
import { createMetrics } from "../src/server/metrics.ts";
import { readSettings } from "../src/settings.ts";
import { FakeClock } from "./support/clock.ts";

const MINUTE = 60_000;

/** A controller whose every request ends as `answer` does. */
function controllerOn(t: TestContext, clock: FakeClock, answer: () => Promise<never>): Controller {
  const client: ApiClient = {
    server: "http://nowhere",
    request: answer,
    open: answer,
    close: () => Promise.resolve(),
  };
  const config = readConfig({}, { env: {}, clusterNamespace: undefined, terminal: false });
  const log = createLog(config, { write: () => undefined });
  const metrics = createMetrics("test");
  const parts = { client, leaseApi: client, clock, log, metrics, observer: {} };
  const controller = assemble(config, readSettings(config), parts);
  const stop = new AbortController();
  void controller.run(stop.signal);
  t.after(() => stop.abort());
  return controller;
}

test("S02 liveness fails when a watch has hung for ten minutes and nothing ends it", async (t) => {
  const clock = new FakeClock();
  const controller = controllerOn(t, clock, () => new Promise(() => undefined));
  await clock.advance(9 * MINUTE);
  assert.deepEqual(controller.live(), []);
  await clock.advance(2 * MINUTE);
  assert.deepEqual(controller.live(), [
    "secrets: no sign of life for 660 s",
    "namespaces: no sign of life for 660 s",
  ]);
  assert.equal(controller.ready().length, 2);
});

test("liveness holds through any outage of the API server, even one that swallows requests", async (t) => {
  const clock = new FakeClock();
  const controller = controllerOn(t, clock, async () => {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 30_000));
    throw new ApiError("watch secrets", { kind: "timeout", reason: "NoAnswer" });
  });
  for (let step = 0; step < 360; step++) {
    await clock.advance(10_000);
    assert.deepEqual(controller.live(), [], `after ${step} steps`);
  }
});
