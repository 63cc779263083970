// In which order a plan's writes go, over several plans that each carry out but a part.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";

const order = ({ actions }: Plan): readonly string[] =>
  actions.map(({ kind, place }) => `${kind} ${place.namespace}`);

test("creates due for three seconds alternate with the youngest", () => {
  const made = new Cluster().withNamespaces("shared");
  made.secret("shared/registry", { to: "*" });
  for (let second = 0; second <= 5; second++) {
    made.now = second * 1000;
    made.namespace(`team-${second}`, {}, {}, second);
    made.plan();
  }
  const expected = [5, 0, 4, 1, 3, 2].map((at) => `create team-${at}`);
  assert.deepEqual(order(made.plan()), expected);
});

test("deletes come after creates until they have been due for five seconds", () => {
  const made = new Cluster({ deleteGraceMs: 0 }).withNamespaces("shared");
  for (const at of [0, 1, 2]) {
    made.namespace(`old-${at}`, {}, {}, at);
    made.secret(`shared/ends-${at}`, { to: `old-${at}` });
  }
  made.settle();
  const begun = made.now;
  for (const at of [1, 2, 0]) {
    made.annotate(`shared/ends-${at}`, { to: "nowhere" });
    made.due();
    made.now += 100;
  }
  for (const at of [0, 1, 2]) made.namespace(`young-${at}`, {}, {}, 10 + at);
  made.secret("shared/registry", { to: "young-*" });
  const creates = [2, 1, 0].map((at) => `create young-${at}`);
  assert.deepEqual(order(made.plan()), [
    ...creates,
    "delete old-0",
    "delete old-1",
    "delete old-2",
  ]);
  // One millisecond before the first delete has been due for five seconds.
  made.now = begun + 4999;
  assert.deepEqual(order(made.plan()).slice(3).toSorted(), [
    "delete old-0",
    "delete old-1",
    "delete old-2",
  ]);
  made.now = begun + 5000;
  assert.deepEqual(order(made.plan()).slice(0, 2), ["create young-2", "delete old-1"]);
  made.now = begun + 5150;
  assert.deepEqual(order(made.plan()), [
    "create young-2",
    "delete old-1",
    "create young-1",
    "delete old-2",
    "create young-0",
    "delete old-0",
  ]);
});

test("a namespace with very many sources does not delay the copies of another's", () => {
  const made = new Cluster({ sourceNamespaces: globs("*") }).withNamespaces("shared", "tenant");
  for (let at = 0; at < 20; at++) made.namespace(`team-${at}`);
  for (let at = 0; at < 300; at++) made.secret(`tenant/of-${at}`, { to: "team-*" });
  made.secret("shared/registry", { to: "team-*" });
  const { actions } = made.plan();
  assert.ok(actions.length > 1000);
  const last = actions.findLastIndex(({ source }) => source.namespace === "shared");
  assert.equal(actions.filter(({ source }) => source.namespace === "shared").length, 20);
  assert.ok(last < 40, `the last of its writes is number ${last}`);
});
