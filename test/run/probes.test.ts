import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { serveHttp, type Health } from "../../src/run/probes.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { Cluster } from "../support/planner/planner-cluster.ts";
import { createMetrics } from "../../src/controller/report/metrics.ts";

async function start(t: TestContext, health: Health): Promise<string> {
  const metrics = createMetrics("secretcast", { version: "1.2.3" });
  const cluster = new Cluster().withNamespaces("shared", "team-a", "team-b", "team-c");
  cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "1" } });
  cluster.secret("shared/wrong", { too: "team-*" });
  for (const name of ["one", "two"]) cluster.secret(`team-a/${name}`, { to: "*" });
  cluster.sync();
  metrics.observe({
    clusterStates: [{ kind: "Secret", objectsIn: () => new Map() }],
    watches: {
      secrets: { lastActivityMs: 1000, disconnectedSinceMs: 460_500 },
      namespaces: { lastActivityMs: 1000, disconnectedSinceMs: undefined },
      configmaps: {
        lastActivityMs: 0,
        disconnectedSinceMs: 0,
        named: [
          { name: "ca", lastActivityMs: 3000, disconnectedSinceMs: undefined },
          { name: "ca", lastActivityMs: 2000, disconnectedSinceMs: 501_000 },
          { name: "roots", lastActivityMs: 4000, disconnectedSinceMs: undefined },
        ],
      },
    },
    unreadable: () => [],
    deniedNames: () => [{ name: "registry" }, { name: "registry" }],
    maxValueAgeMs: 0,
    sync: { newestPlan: cluster.plan() },
    syncLog: { convergedMs: 1_700_000_000_000 },
    controller: { leading: true },
    clock: { ...systemClock, monotonic: () => 502_000, now: () => 1_700_000_502_000 },
  });
  const address = { host: "127.0.0.1", port: 0 };
  const server = await serveHttp(address, health, metrics.registry, systemClock);
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address.port}`;
}

test("the probes say ok, or name each problem with a 503", async (t) => {
  const problems: string[] = [];
  const url = await start(t, { live: () => problems, ready: () => ["secrets: not synced"] });
  const live = await fetch(`${url}/healthz`);
  assert.deepEqual([live.status, await live.text()], [200, "ok\n"]);
  problems.push("secrets: watch silent for 11m");
  const dead = await fetch(`${url}/healthz`);
  assert.deepEqual([dead.status, await dead.text()], [503, "secrets: watch silent for 11m\n"]);
  const ready = await fetch(`${url}/readyz`);
  assert.deepEqual([ready.status, await ready.text()], [503, "secrets: not synced\n"]);
});

test("metrics carry the public names and their readings", async (t) => {
  const url = await start(t, { live: () => [], ready: () => [] });
  const text = await (await fetch(`${url}/metrics`)).text();
  for (const line of [
    'secretcast_copies{state="current",resource="secrets"} 3',
    'secretcast_sources{state="refused",resource="secrets"} 1',
    'secretcast_ignored{reason="namespace"} 2',
    "secretcast_unreadable_names 1",
    "secretcast_last_converged_timestamp_seconds 1700000000",
    'secretcast_watch_last_activity_timestamp_seconds{resource="secrets"} 1700000001',
    'secretcast_watch_disconnected_seconds{resource="secrets"} 41.5',
    'secretcast_watch_disconnected_seconds{resource="namespaces"} 0',
    'secretcast_watch_last_activity_timestamp_seconds{resource="configmaps",name="ca"} 1700000002',
    'secretcast_watch_disconnected_seconds{resource="configmaps",name="ca"} 1',
    'secretcast_watch_disconnected_seconds{resource="configmaps",name="roots"} 0',
    'secretcast_build_info{version="1.2.3"} 1',
    'leader_election_master_status{name="secretcast"} 1',
    'secretcast_drift_repaired_total{kind="edited"} 0',
    'secretcast_syncs_total{result="ok"} 0',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  for (const name of [
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_queue_duration_seconds",
    "workqueue_work_duration_seconds",
    "workqueue_unfinished_work_seconds",
    "workqueue_longest_running_processor_seconds",
    "workqueue_retries_total",
    "rest_client_requests_total",
    "secretcast_writes_total",
    "secretcast_sync_duration_seconds",
    "secretcast_propagation_seconds",
    "secretcast_watch_restarts_total",
    "process_cpu_seconds_total",
    "nodejs_eventloop_lag_seconds",
  ])
    assert.match(text, new RegExp(`^# TYPE ${name} `, "m"), name);
});

test("another path is a 404 and another method a 405", async (t) => {
  const url = await start(t, { live: () => [], ready: () => [] });
  assert.equal((await fetch(`${url}/`)).status, 404);
  assert.equal((await fetch(`${url}/healthz`, { method: "POST" })).status, 405);
  // A path that `new URL` throws at.
  assert.equal((await fetch(`${url}//`)).status, 404);
});

test("an address in use is one clear line", async (t) => {
  const url = await start(t, { live: () => [], ready: () => [] });
  const port = Number(new URL(url).port);
  const health = { live: () => [], ready: () => [] };
  const { registry } = createMetrics("x", { ofProcess: false });
  const again = serveHttp({ host: "127.0.0.1", port }, health, registry, systemClock);
  await assert.rejects(again, { message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE` });
});
