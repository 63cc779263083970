// The status page of real controllers on the in-memory API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runController } from "../../../src/cli/run/run.ts";
import { readConfig } from "../../../src/config/config.ts";
import { loadKubeConfig } from "../../../src/kube/kubeconfig/kubeconfig.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import type { Status } from "../../../src/server/status/status.ts";
import { eventually } from "../../support/time/eventually.ts";
import { openScene } from "../../support/scenes/scene.ts";

test("a controller serves what it has planned; a replica on stand-by serves who leads", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team");
  const taken = await scene.namespace("taken");
  await scene.stranger(taken, "registry");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": `${team},${taken}` },
    data: { key: "a value" },
  });
  const stop = new AbortController();
  const replicas: Promise<unknown>[] = [];
  const start = (): Promise<string> =>
    new Promise((onServing) => {
      const given = { ...scene.flags(), "leader-elect": true, "lease-namespace": scene.source };
      const around = { env: {}, clusterNamespace: undefined, terminal: false };
      const config = readConfig({ ...given, "status-address": "127.0.0.1:0" }, around);
      const log = createLog(config, { write: () => true });
      const program = { signal: stop.signal, version: "1.2.3" };
      const access = loadKubeConfig({ kubeconfig: scene.kubeconfig });
      replicas.push(runController(config, access, program, log, { onServing }));
    });
  t.after(async () => {
    stop.abort();
    await Promise.all(replicas);
  });
  const read = async (url: string): Promise<Status> =>
    JSON.parse(await (await fetch(`${url}api/status`)).text());

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
  assert.deepEqual(led.grid?.sources, [source]);

  const other = await start();
  const waiting = await eventually("the stand-by sees the leader", async () => {
    const status = await read(other);
    return status.leader.holder !== undefined && status;
  });
  assert.deepEqual(waiting.leader, { state: "stand-by", holder: led.leader.holder });
  assert.equal(waiting.totals, undefined);
});
