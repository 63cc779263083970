// What the log and the Events print, as data, and that both print the same whatever hears of a plan first.
import assert from "node:assert/strict";
import { finishAtOnce } from "../../../packages/kube/time/turns.ts";
import { test } from "node:test";
import { noticesOf, type Notice } from "../../../src/controller/report/notices.ts";
import { SyncLog } from "../../../src/controller/report/sync-log.ts";
import { Troubles } from "../../../src/controller/report/troubles.ts";
import { createMetrics } from "../../../src/controller/report/metrics.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { reporterOf } from "../../support/telemetry/sent-events.ts";
import type { Ref } from "../../../src/text/names.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";

const SETTLED = { settled: true, dryRun: false, tookMs: 0 };

/** Three teams: one has a Secret in the way, and writes fail in another. */
function troubled(): Cluster {
  const cluster = new Cluster().withNamespaces("shared", "team-0", "team-1", "team-2");
  cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "1" } });
  cluster.secret("shared/wrong", { to: "team-*", too: "x" }, { data: { a: "1" } });
  cluster.secret("team-0/registry", {}, { data: { mine: "x" } });
  return cluster;
}

const FAILURE = {
  reason: "quota full would be exceeded",
  cause: "quota",
  error: "forbidden",
  retryAfterMs: undefined,
} as const;

/** What becomes of the first plan, and the plan after that. */
function story() {
  const cluster = troubled();
  const outcomes = cluster.plan().actions.map((action) => {
    const fails = action.place.namespace === "team-1";
    if (!fails) cluster.apply(action);
    else
      for (let tries = 0; tries < 5; tries++)
        cluster.memory.failed(action, FAILURE, cluster.now, 0.5);
    return fails
      ? ({ kind: "failed", action, ...FAILURE } as const)
      : ({ kind: "done", action, object: undefined } as const);
  });
  const uidOf = (_: string, { namespace, name }: Ref) =>
    cluster.secrets.get(`${namespace}/${name}`)?.metadata.uid;
  return { outcomes, plan: cluster.plan(), uidOf };
}

function noticesAfter(heard: ReturnType<typeof story>): readonly Notice[] {
  const troubles = new Troubles();
  for (const outcome of heard.outcomes) troubles.onOutcome(outcome);
  troubles.onPlan(heard.plan, [], 0);
  return finishAtOnce(noticesOf(heard.plan, troubles));
}

test("a plan and its outcomes lead to one notice for each problem, with its places", () => {
  const shown = noticesAfter(story()).map(({ code, params, places }) => ({
    code,
    params,
    places: places.map(({ place }) => place.namespace),
  }));
  const refused = shown.find(({ code }) => code === "refused");
  const others = shown.filter((notice) => notice !== refused);
  assert.match(JSON.stringify(refused?.params), /secretcast\.io\/too/);
  const reason = "a Secret of that name already exist";
  assert.deepEqual(
    others.map(({ params, ...notice }) => ({
      ...notice,
      reason: JSON.stringify(params["reason"]).replaceAll('"', "").slice(0, 35),
    })),
    [
      { code: "failed", places: ["team-1"], reason: FAILURE.reason },
      { code: "unmanaged", places: ["team-0"], reason },
    ],
  );
});

test("the order in which the hooks hear of outcomes and plans does not matter", async () => {
  const heard = await Promise.all(
    [false, true].map(async (reversed) => {
      const { outcomes, plan, uidOf } = story();
      const clock = new FakeClock();
      const metrics = createMetrics("lease", { ofProcess: false });
      const lines: string[] = [];
      const log = createLog(
        { logLevel: "info", logFormat: "json" },
        { write: (line) => void lines.push(line.replace(/"time":"[^"]*"/, "")) },
      );
      const { reporter, events } = reporterOf({
        log,
        mayName: () => true,
        uidOf,
        now: () => 0,
      });
      const inOrder = [new SyncLog(log, metrics.syncMetrics, clock), reporter];
      const hooks = reversed ? inOrder.toReversed() : inOrder;
      for (const outcome of outcomes) for (const each of hooks) each.onOutcome(outcome);
      for (const each of hooks) {
        const steps = each.onPlan(plan, SETTLED) ?? [].values();
        while (steps.next().done !== true);
      }
      return {
        lines: lines.toSorted(),
        events: events(),
        metrics: await metrics.registry.metrics(),
      };
    }),
  );
  const [first, last] = heard;
  assert.deepEqual(last, first);
  assert.equal(first?.lines.length, 5, first?.lines.join(""));
  assert.deepEqual(
    first.events.map(({ reason }) => reason),
    ["Copied", "Conflict", "Failed", "Refused"],
  );
});
