// The status page of real controllers on the in-memory API.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { runController } from "../../src/run/run.ts";
import { readConfig, type FlagValues } from "../../src/controller/settings/config.ts";
import { createLog } from "../../src/controller/report/log.ts";
import type { Status } from "../../src/page/status.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { proxied } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

/** Starts replicas, which end with the test: each gives the address of its page. */
function replicasOf(t: TestContext, scene: Scene, flags: FlagValues): () => Promise<string> {
  const stop = new AbortController();
  const replicas: Promise<unknown>[] = [];
  t.after(async () => {
    stop.abort();
    await Promise.all(replicas);
  });
  return () =>
    new Promise((onServing) => {
      const around = { env: {}, clusterNamespace: undefined, terminal: false };
      const config = readConfig({ ...scene.flags(), ...flags }, around);
      const log = createLog(config, { write: () => true });
      const program = { signal: stop.signal, version: "1.2.3" };
      replicas.push(runController(config, scene.access, program, log, { onServing }));
    });
}

const read = async (url: string): Promise<Status> =>
  JSON.parse(await (await fetch(`${url}api/status`)).text());

test("a controller serves what it has planned; a replica on stand-by serves who leads", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team");
  const taken = await scene.namespace("taken");
  await scene.unmanaged(taken, "registry");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": `${team},${taken}` },
    data: { key: "a value" },
  });
  const start = replicasOf(t, scene, { "leader-elect": true, "lease-namespace": scene.source });
  const leader = await start();
  const led = await eventually("a plan whose copy is made", async () => {
    const status = await read(leader);
    return status.totals?.states.current === 1 && status;
  });
  assert.equal(led.version, "1.2.3");
  assert.equal(led.leader.state, "leading");
  assert.deepEqual(led.troubles, []);
  assert.deepEqual(
    led.watches.map(({ resource, filled }) => `${resource} ${filled}`),
    ["secrets true", "namespaces true"],
  );
  const source = `${scene.source}/registry`;
  assert.deepEqual(
    led.groups.shown.map(({ verdict, source, places }) => [verdict, source, places.shown]),
    [["conflict", source, [`${taken}/registry`]]],
  );
  assert.deepEqual(led.grid?.sources, [{ kind: "Secret", source }]);

  const other = await start();
  const waiting = await eventually("the stand-by sees the leader", async () => {
    const status = await read(other);
    return status.leader.holder !== undefined && status;
  });
  assert.deepEqual(waiting.leader, { state: "stand-by", holder: led.leader.holder });
  assert.equal(waiting.totals, undefined);
});

test("a controller in an outage serves the time of its data and the next try", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": team },
    data: { key: "a value" },
  });
  const proxy = await proxied(t, scene);
  const url = await replicasOf(t, scene, {})();
  const well = await eventually("the copy is made", async () => {
    const status = await read(url);
    return status.totals?.states.current === 1 && status;
  });
  assert.equal(well.outdated, undefined);
  proxy.rule = () => ({ kind: "reset" });
  proxy.resetAll();
  const cut = await eventually("both are known to be disconnected, and one waits", async () => {
    const status = await read(url);
    const all = status.watches.every(({ disconnectedMs }) => disconnectedMs !== undefined);
    return all && status.watches.some(({ nextTryMs }) => nextTryMs !== undefined) && status;
  });
  assert.ok(cut.outdated);
  assert.equal(cut.outdated.asOfMs, Math.min(...cut.watches.map(({ aliveMs }) => aliveMs)));
  assert.ok(cut.outdated.asOfMs <= cut.outdated.sinceMs);
  assert.equal(cut.totals?.states.current, 1, "what was known stays, as of then");
  assert.deepEqual(cut.troubles, []);
  proxy.rule = () => undefined;
  const back = await eventually("it is followed again", async () => {
    const status = await read(url);
    return status.outdated === undefined && status;
  });
  assert.ok(back.watches.every(({ disconnectedMs }) => disconnectedMs === undefined));
  assert.equal(back.serverAwayMs, undefined);
});
