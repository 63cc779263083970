// One sync by itself, with a pipe and an API of the test's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Apply } from "../../../src/controller/writes/apply.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { SyncLog, type SyncHooks } from "../../../src/controller/report/sync-log.ts";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import { Sync } from "../../../src/controller/sync/sync.ts";
import type { SyncResult } from "../../../src/controller/sync/sync-result.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { refText } from "../../../src/text/names.ts";

/** Of a process that also works, which takes time without any timer. */
class WorkingClock extends FakeClock {
  workedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.workedMs;
  }
}

/** A pass over a cluster in which one copy is due to each team; `permission`: ms for which writing is allowed. */
function open(
  writeDeadlineMs: () => number,
  answer: () => Promise<object> = async () => ({}),
  teams: readonly string[] = ["team-a"],
  hooks: readonly SyncHooks[] = [],
) {
  const clock = new WorkingClock();
  const cluster = new Cluster().withNamespaces("shared");
  for (const team of teams) cluster.namespace(team);
  cluster.secret("shared/registry", { to: "team-*" });
  const sent: string[] = [];
  const bodies: string[] = [];
  const request = async ({ method, path, body }: Pick<ApiRequest, "method" | "path" | "body">) => {
    sent.push(`${method} ${path}`);
    bodies.push(JSON.stringify(body));
    return answer();
  };
  const client = { request } as unknown as ApiClient;
  const nothing = (): void => {};
  const figures = {
    write: nothing,
    failed: nothing,
    sync: nothing,
    repaired: nothing,
    propagated: nothing,
    sourceRead: nothing,
  };
  const log = createLog({ logLevel: "error", logFormat: "json" }, { write: () => true });
  const sync = new Sync({
    get clusterStates() {
      return [cluster.clusterState()];
    },
    settings: cluster.settings,
    memory: cluster.memories,
    caches: {
      of: () => ({
        get: (place) =>
          cluster.secrets.has(refText(place)) ? cluster.cached(refText(place)) : undefined,
        remember: () => undefined,
        read: () => undefined,
        forget: nothing,
      }),
      namespace: (name) => readNamespace(cluster.namespaces.get(name)),
      rememberNamespace: nothing,
      forgetNamespace: nothing,
      namespaceRefused: nothing,
    },
    apply: new Apply({
      client,
      writeDeadlineMs,
      onWrite: nothing,
      onLiveRead: nothing,
      isReserved: () => false,
      onReplace: () => {},
      forget: () => {},
      remember: nothing,
      read: () => undefined,
      sources: { cache: cluster.data, read: () => undefined, onRead: nothing },
    }),
    concurrency: 4,
    clock,
    hooks: [new SyncLog(log, figures, clock), ...hooks],
    dryRun: false,
  });
  return { sync, sent, bodies, cluster, clock };
}

test("LE-12 a sync that may not write is run again in a second", async () => {
  let left = 0;
  const { sync, sent } = open(() => left);
  const { settled, dueMs, waiting } = await sync.doSync();
  assert.deepEqual({ settled, dueMs, waiting }, { settled: true, dueMs: 1000, waiting: true });
  assert.deepEqual(sent, []);
  left = 5000;
  assert.equal((await sync.doSync()).settled, false);
  assert.deepEqual(sent, ["POST /api/v1/namespaces/team-a/secrets"]);
});

test("a failed write without a waiting sync is retried in its time", async () => {
  const { promise, reject } = Promise.withResolvers<object>();
  const { sync, clock } = open(
    () => Infinity,
    () => promise,
  );
  const late = new Promise<SyncResult>((resolve) => sync.onLateWrite(() => resolve(sync.doSync())));
  const passing = sync.doSync();
  // Nobody waits for what has been slow for so long.
  await clock.advance(8000);
  await passing;
  const meanwhile = await sync.doSync();
  assert.equal(meanwhile.dueMs, undefined);
  reject(new ApiError("create secret team-a/registry", { kind: "timeout", reason: "NoAnswer" }));
  const { dueMs = Infinity } = await late;
  assert.ok(dueMs <= 1100, `due in ${dueMs} ms`);
});

test("after an interrupt a sync plans and writes nothing", async () => {
  const { sync, sent } = open(() => Infinity);
  sync.interrupt();
  await sync.doSync();
  await sync.stop();
  assert.deepEqual(sent, []);
});

test("a write of a source that changed since its plan uses the newer content", async () => {
  const { sync, bodies, cluster } = open(() => Infinity);
  const [action] = cluster.plan().actions;
  assert.ok(action);
  cluster.edit("shared/registry", ({ data }) => (data["key"] = "bmV3"));
  cluster.cached("shared/registry");
  await sync.perform({ key: "team-a/registry", action });
  assert.match(bodies[0] ?? "", /"bmV3"/);
});

test("an event of a pulling Secret requests a sync as one of a copy does", async () => {
  const { sync, cluster } = open(() => Infinity);
  cluster.secret("team-a/pulling", { from: "shared/registry" });
  const pulling = cluster.cached("team-a/pulling");
  const source = cluster.cached("shared/registry");
  assert.equal(sync.events.concerns("Secret", undefined, pulling), "later");
  assert.equal(sync.events.concerns("Secret", undefined, source), "urgent");
});

for (const urgent of [false, true])
  test(`while writes wait, a plan that takes long is made anew ${urgent ? "at once for a change that somebody waits for" : "for what nobody waits for after twice its time"}`, async () => {
    const PLAN_MS = 400;
    const { sync, sent, cluster, clock } = open(
      () => Infinity,
      () => new Promise((resolve) => clock.setTimeout(() => resolve({}), 20)),
      Array.from({ length: 500 }, (_, n) => `team-${n}`),
    );
    const { shared } = cluster.memories;
    const begin = shared.beginSync.bind(shared);
    shared.beginSync = (now) => {
      clock.workedMs += PLAN_MS;
      begin(now);
    };
    const began = clock.monotonic();
    const passed: number[] = [];
    const passing = sync.doSync().then(() => passed.push(clock.monotonic() - began));
    await clock.advance(10);
    sync.markDirty(urgent);
    while (passed.length === 0) await clock.advance(10);
    await passing;
    const [tookMs = 0] = passed;
    assert.ok(sent.length < 500, "others waited");
    if (urgent) assert.ok(tookMs < 2 * PLAN_MS, `${tookMs} ms`);
    else assert.ok(tookMs >= 3 * PLAN_MS && tookMs < 4 * PLAN_MS, `${tookMs} ms`);
    await clock.advance(5000);
    await sync.stop();
  });

test("a new namespace's write starts while the answer to another one is slow", async () => {
  const answers: (() => void)[] = [];
  const { sync, sent, cluster, clock } = open(
    () => Infinity,
    () => new Promise((resolve) => answers.push(() => resolve({}))),
  );
  let ended = false;
  void sync.doSync().then(() => (ended = true));
  await clock.advance(1);
  cluster.namespace("team-b");
  sync.markDirty(true);
  // Namespaces that are made at once share a plan.
  await clock.advance(20);
  assert.ok(ended, "the first sync waits on");
  const second = sync.doSync();
  await clock.advance(1);
  assert.deepEqual(sent, [
    "POST /api/v1/namespaces/team-a/secrets",
    "POST /api/v1/namespaces/team-b/secrets",
  ]);
  for (const answer of answers) answer();
  await second;
  await sync.stop();
});

test("a slow write that fails while its sync reports requests another sync", async () => {
  let fail = (): void => {};
  let reports = 0;
  const { sync, clock } = open(
    () => Infinity,
    () =>
      new Promise(
        (_, reject) =>
          (fail = () =>
            reject(
              new ApiError("create secret team-a/registry", {
                kind: "timeout",
                reason: "NoAnswer",
              }),
            )),
      ),
    ["team-a"],
    [
      {
        *onPlan() {
          if (++reports === 1) return;
          fail();
          clock.workedMs += 20;
          yield;
        },
      },
    ],
  );
  const first = sync.doSync();
  await clock.advance(8000);
  await first;
  assert.equal((await sync.doSync()).settled, false);
  await sync.stop();
});
