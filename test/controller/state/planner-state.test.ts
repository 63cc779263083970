// What is remembered between syncs: back-off, fights, places that are taken, distance between writes.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";
import { reasonAt } from "../../support/planner/publishers.ts";
import { backoffMs } from "../../../src/controller/state/backoff.ts";
import type { Action } from "../../../src/controller/model/actions.ts";

const PLACE = "team-a/one";
const DENIED = { reason: "denied", cause: "withheld", error: "forbidden" };
const FULL = { reason: "too many requests", cause: "throttled", error: "throttled" };

function cluster(): Cluster {
  const made = new Cluster().withNamespaces("shared", "team-a", "team-b");
  made.secret("shared/one", { to: "*" });
  return made;
}

function actionAt(made: Cluster, place = PLACE): Action {
  const action = made
    .plan()
    .actions.find((one) => `${one.place.namespace}/${one.place.name}` === place);
  assert.ok(action, `an action at ${place}`);
  return action;
}

test("back-off grows from 1 s to 5 min, each within 10 %", () => {
  const middle = [1, 2, 3, 9, 10, 50].map((attempts) => backoffMs(attempts, 0.5));
  assert.deepEqual(middle, [1000, 2000, 4000, 256_000, 300_000, 300_000]);
  assert.equal(backoffMs(1, 0), 900);
  assert.ok(Math.abs(backoffMs(1, 1) - 1100) < 1e-6);
});

test("a place with a failed write waits with its reason while the others continue", () => {
  const made = cluster();
  made.memory.failed(actionAt(made), DENIED, made.now, 0.5);
  const result = made.sync();
  assert.equal(verdictAt(result, PLACE), "backoff");
  assert.match(whyOf(result.rows.find(({ verdict }) => verdict === "backoff")), /denied/);
  assert.equal(made.secrets.has("team-b/one"), true);
  assert.equal(result.nextAt, 1000);
  made.now = 1000;
  made.memory.failed(actionAt(made), DENIED, made.now, 0.5);
  assert.equal(made.plan().nextAt, 3000);
  made.now = 3000;
  made.sync();
  assert.equal(made.secrets.has(PLACE), true);
});

test("a write refused by 429 is retried within seconds, whatever its number of tries", () => {
  const made = cluster();
  for (let tries = 0; tries < 20; tries++) {
    made.memory.failed(actionAt(made), FULL, made.now, 1);
    const result = made.plan();
    assert.equal(verdictAt(result, PLACE), "backoff");
    const waitMs = (result.nextAt ?? Infinity) - made.now;
    assert.ok(waitMs >= 1000 && waitMs <= 5000, `try ${tries}: ${waitMs} ms`);
    made.now += waitMs;
  }
  made.sync();
  assert.equal(made.secrets.has(PLACE), true);
});

test("a write refused by 429 waits as long as the server asks", () => {
  for (const [retryAfterMs, waitMs] of [
    [undefined, 1050],
    [0, 1050],
    [1000, 1050],
    [30_000, 31_500],
    [300_000, 315_000],
  ] as const) {
    const made = cluster();
    made.memory.failed(actionAt(made), { ...FULL, retryAfterMs }, made.now, 0.5);
    assert.equal((made.plan().nextAt ?? Infinity) - made.now, waitMs);
  }
});

test("refusals by 429 make the wait after another failure no longer, nor it theirs", () => {
  const made = cluster();
  const silent = { reason: "no answer in time", cause: "deadline", error: "timeout" };
  const action = actionAt(made);
  const fail = (failure: typeof FULL): number => {
    made.memory.failed(action, failure, made.now, 0.5);
    return (made.plan().nextAt ?? Infinity) - made.now;
  };
  for (let tries = 0; tries < 10; tries++) fail(FULL);
  const waits = [silent, FULL, silent, FULL, silent].map(fail);
  assert.deepEqual(waits, [1000, 1050, 2000, 1050, 4000]);
});

test("a failure for want of an API server is due when it is back", () => {
  const made = cluster();
  const away = { reason: "cannot reach the API server", cause: "withheld", error: "unavailable" };
  const [mine, other] = [actionAt(made), actionAt(made, "team-b/one")];
  for (let tries = 0; tries < 5; tries++) {
    made.memory.failed(mine, away, made.now, 0.5);
    made.memory.failed(other, DENIED, made.now, 0.5);
  }
  assert.equal(verdictAt(made.plan(), PLACE), "backoff");
  made.memory.places.serverIsBack();
  assert.equal(verdictAt(made.plan(), PLACE), "create");
  assert.equal(verdictAt(made.plan(), "team-b/one"), "backoff");
});

test("changed inputs are tried at once, a changed target is not", () => {
  const made = cluster();
  made.settle();
  made.now += 5000;
  made.edit(PLACE, ({ data }) => (data["key"] = "ZWRpdGVk"));
  made.memory.failed(actionAt(made), DENIED, made.now, 0.5);
  made.edit(PLACE, ({ data }) => (data["key"] = "YWdhaW4="));
  assert.equal(verdictAt(made.plan(), PLACE), "backoff");
  made.edit("shared/one", ({ data }) => (data["key"] = "bmV3"));
  assert.equal(verdictAt(made.plan(), PLACE), "update");
});

test("a 409 is no failure: again after 100 ms", () => {
  const made = cluster();
  made.memory.places.stale(PLACE, actionAt(made).decisionKey, made.now);
  const result = made.plan();
  assert.equal(verdictAt(result, PLACE), "create");
  assert.equal(
    result.actions.some(({ place }) => place.namespace === "team-a"),
    false,
  );
  assert.equal(result.nextAt, 100);
  made.now = 100;
  assert.equal(actionAt(made).kind, "create");
});

test("a place that is taken against the cache is a conflict and read live", () => {
  const made = cluster();
  made.memory.places.uncached(PLACE, made.now, 0.5);
  const result = made.sync();
  assert.equal(verdictAt(result, PLACE), "conflict");
  const reason = "a Secret that the cache does not show is in the way";
  assert.equal(reasonAt(result, PLACE), reason);
  assert.equal(result.nextAt, 1000);
  assert.equal(made.secrets.has(PLACE), false);
  made.now = 1000;
  const look = actionAt(made);
  assert.equal(look.kind, "liveGet");
  made.memory.places.uncached(PLACE, made.now, 0.5);
  assert.equal(made.plan().nextAt, 3000);
  made.memory.places.foundAbsent(PLACE);
  assert.equal(actionAt(made).kind, "create");
});

test("a place in flight keeps its verdict and gets no action", () => {
  const made = cluster();
  const result = made.plan(new Set([PLACE]));
  assert.equal(verdictAt(result, PLACE), "create");
  assert.deepEqual(
    result.actions.map(({ place }) => place.namespace),
    ["team-b"],
  );
});

test("a flapping source costs one write a place and second", () => {
  const made = cluster();
  made.sync();
  made.now += 400;
  made.edit("shared/one", ({ data }) => (data["key"] = "bmV3"));
  const result = made.sync();
  assert.deepEqual(result.actions, []);
  assert.equal(verdictAt(result, PLACE), "update");
  assert.equal(result.nextAt, 1000);
  made.now = 1000;
  assert.equal(made.sync().actions.length, 2);
});

test("a place repaired more than five times a minute backs off as a fight", () => {
  const made = cluster();
  made.settle();
  const repairs: string[] = [];
  for (let second = 0; second < 30; second++) {
    made.now += 1000;
    made.edit(PLACE, ({ data }) => (data["key"] = Buffer.from(`${second}`).toString("base64")));
    repairs.push(made.sync().actions.length > 0 ? "repaired" : "left");
  }
  assert.equal(repairs.filter((one) => one === "repaired").length, 6);
  assert.equal(verdictAt(made.plan(), PLACE), "backoff");
  assert.deepEqual(
    made.memory.takeFights().map(({ place }) => place.namespace),
    ["team-a"],
  );
  made.now += 30_000;
  made.sync();
  made.now += 30_000;
  made.edit(PLACE, ({ data }) => (data["key"] = "eA=="));
  assert.equal(verdictAt(made.plan(), PLACE), "backoff");
  assert.deepEqual(made.memory.takeFights(), []);
});

test("what nobody asks for any more is forgotten", () => {
  const made = cluster();
  const action = actionAt(made);
  made.memory.failed(action, DENIED, made.now, 0.5);
  made.memory.failed(action, DENIED, made.now, 0.5);
  made.secret(PLACE, {});
  made.sync();
  made.delete(PLACE);
  made.now += 1000;
  assert.equal(actionAt(made).kind, "create");
});

test("actions: creates and updates before deletes, the youngest namespace first, sources in turns", () => {
  const made = new Cluster().withNamespaces("shared");
  for (const [at, name] of ["team-a", "team-b", "team-c"].entries())
    made.namespace(name, {}, {}, at);
  made.secret("shared/old", { to: "team-*" });
  made.settle();
  made.annotate("shared/old", { to: "nowhere" });
  made.secret("shared/x", { to: "team-*" });
  made.secret("shared/y", { to: "team-*" });
  made.now += 5000;
  assert.deepEqual(
    made.due().actions.map(({ kind, place }) => `${kind} ${place.namespace}/${place.name}`),
    [
      "create team-c/x",
      "create team-c/y",
      "create team-b/x",
      "create team-b/y",
      "create team-a/x",
      "create team-a/y",
      "delete team-c/old",
      "delete team-b/old",
      "delete team-a/old",
    ],
  );
});
