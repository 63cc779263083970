// A plan holds 50,000 creates, updates and endings each; what is beyond is counted, and comes after them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

const [SOURCES, NAMESPACES] = [170, 300];
const ALL = SOURCES * NAMESPACES;
const MOST = 50_000;

function rowsOf(plan: Plan, kind: string): number {
  return plan.rows.filter(({ verdict }) => verdict === kind).length;
}

test("a plan holds 50,000 of many updates and endings, and all are done", () => {
  const made = new Cluster().withNamespaces("shared");
  const sources = Array.from({ length: SOURCES }, (_, at) => `ca-${at}`);
  for (let at = 0; at < NAMESPACES; at++) made.namespace(`team-${at}`);
  for (const name of sources) made.secret(`shared/${name}`, { to: "team-*" }, { data: { a: "1" } });
  made.settle();

  for (const name of sources) made.secret(`shared/${name}`, { to: "team-*" }, { data: { a: "2" } });
  const updates = made.sync();
  assert.equal(updates.counts.update, ALL);
  assert.ok(updates.actions.length <= MOST && updates.actions.length > MOST / 2);
  assert.ok(rowsOf(updates, "update") <= MOST);
  const rest = made.sync();
  assert.equal(rest.actions.length, ALL - updates.actions.length);
  assert.equal(made.settle().counts.current, ALL);

  for (const name of sources) made.secrets.delete(`shared/${name}`);
  const graced = made.plan();
  assert.equal(graced.counts.delete, ALL);
  assert.ok(rowsOf(graced, "delete") <= MOST);
  const endings = made.due();
  assert.equal(endings.counts.delete, ALL);
  assert.equal(endings.actions.length, MOST);
  for (const action of endings.actions) made.apply(action);
  made.settle();
  assert.equal(made.secrets.size, 0);
});
