// What `plan` says a run then does: over random histories of a cluster, each write of a controller that
// starts afterwards is one that was told, with the names of what it changes, and each that was told is
// made. RUNS of them (environment, 300 by default). A failure prints its seed and the shrunk history.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { planItems, isChange, type PlanItem } from "../../../src/cli/plan/plan-items.ts";
import type { NamesDiff } from "../../../src/cli/plan/content-diff.ts";
import { ALL_RIGHTS } from "../../../src/inspect/cluster/reader-rights.ts";
import { dryPlanOf } from "../../../src/inspect/cluster/dry-plan.ts";
import { ClusterBuilder } from "../../../src/inspect/cluster/cluster-builder.ts";
import { histories } from "../../support/planner/history.ts";
import { live } from "../../support/planner/live.ts";
import type { Cluster } from "../../support/planner/planner-cluster.ts";
import type { RawSecret, Texts } from "../../support/planner/raw-cluster.ts";

const runs = Number(process.env["SECRETCAST_TEST_RUNS"] ?? "300");
const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? String(Date.now() % 2 ** 31));

/** As the command does, of a cluster that was read this moment. */
async function planOf(made: Cluster): Promise<readonly PlanItem[]> {
  const { settings, kind } = made;
  const builder = new ClusterBuilder({
    settings,
    kinds: [kind],
    dataCacheBytes: 2 ** 20,
    withShapes: true,
  });
  for (const raw of made.namespaces.values()) builder.addNamespace(raw);
  for (const raw of made.secrets.values()) builder.addObject(kind, raw);
  const dryPlan = await dryPlanOf({
    builder,
    clusterStates: builder.states(),
    settings,
    readLive: (_, { namespace, name }) => Promise.resolve(made.secrets.get(`${namespace}/${name}`)),
  });
  return planItems(dryPlan, { builder, rights: ALL_RIGHTS }, undefined, 0);
}

/** Of writes by place: what each does to an object, in one word. */
function verbs(writes: readonly string[]): ReadonlyMap<string, string> {
  const methods = Map.groupBy(writes, (write) => write.slice(write.indexOf(" ") + 1));
  return new Map(
    Array.from(methods, ([place, all]) => [
      place,
      all.map((write) => write.slice(0, write.indexOf(" "))).join(" "),
    ]),
  );
}

const METHODS: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PATCH",
  adopt: "PATCH",
  release: "PATCH",
  delete: "DELETE",
  replace: "DELETE POST",
};

function promised(items: readonly PlanItem[], before: ReadonlyMap<string, RawSecret>) {
  const reported = items.filter((item) => isChange(item) && item.verdict !== "wait");
  return new Map(
    reported.map(({ namespace, name, verdict }) => {
      const place = `${namespace}/${name}`;
      const pulls = before.get(place)?.metadata.annotations["secretcast.io/from"] !== undefined;
      return [place, pulls ? "PATCH" : (METHODS[verdict] ?? verdict)] as const;
    }),
  );
}

function changed(
  before: Texts = {},
  after: Texts = {},
  isTold: (key: string) => boolean = () => true,
) {
  const keys = (texts: Texts): readonly string[] => Object.keys(texts).filter(isTold).toSorted();
  return {
    added: keys(after).filter((key) => !Object.hasOwn(before, key)),
    changed: keys(after).filter((key) => Object.hasOwn(before, key) && before[key] !== after[key]),
    removed: keys(before).filter((key) => !Object.hasOwn(after, key)),
  };
}

function whole({ added = [], changed = [], removed = [] }: NamesDiff = {}): Required<NamesDiff> {
  return { added, changed, removed };
}

const notOurs = (key: string): boolean => !key.startsWith("secretcast.io/");
const notManagedBy = (key: string): boolean => key !== "app.kubernetes.io/managed-by";

test("a run does what plan says, write by write and name by name", async (t) => {
  t.diagnostic(`seed ${seed}, ${runs} runs`);
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const made = live(history);
      const items = await planOf(made);
      const before = new Map(structuredClone([...made.secrets]));
      made.restart();
      // A plan counts grace and hold as over.
      made.settings = { ...made.settings, deleteGraceMs: 0, deleteHoldMs: 0 };
      made.writes.length = 0;
      // While the API server is asked about a take-over the copy goes on being served; the plan is what
      // is written once it has answered.
      made.due();
      made.settle(60);
      for (const { verdict } of items) met.add(verdict);
      const [reported, wrote] = [promised(items, before), verbs(made.writes)];
      assert.deepEqual([...wrote.keys()].toSorted(), [...reported.keys()].toSorted(), "the places");
      // What is adopted by one source another may take over at once: a second write.
      for (const [place, methods] of reported) {
        const all = wrote.get(place) ?? "";
        assert.ok(`${all} `.startsWith(`${methods} `), `${place}: ${methods} was told, not ${all}`);
      }
      for (const { namespace, name, verdict, changes } of items) {
        const place = `${namespace}/${name}`;
        const [old, now] = [before.get(place), made.secrets.get(place)];
        if (!now || verdict === "release" || wrote.get(place) !== reported.get(place)) continue;
        if (!wrote.has(place)) continue;
        const of = `${verdict} ${place}`;
        assert.deepEqual(whole(changes?.keys), changed(old?.data, now.data), `keys of ${of}`);
        assert.deepEqual(
          whole(changes?.labels),
          changed(old?.metadata.labels, now.metadata.labels, notManagedBy),
          `labels of ${of}`,
        );
        assert.deepEqual(
          whole(changes?.annotations),
          changed(old?.metadata.annotations, now.metadata.annotations, notOurs),
          `annotations of ${of}`,
        );
        assert.equal(changes?.type, old && old.type !== now.type ? now.type : undefined);
      }
      assert.deepEqual(
        (await planOf(made)).filter(isChange).filter(({ verdict }) => verdict !== "wait"),
        [],
      );
    }),
    { numRuns: runs, seed },
  );
  // So that it is not about nothing.
  for (const verdict of ["create", "update", "delete"])
    assert.ok(met.has(verdict), `no ${verdict} in ${runs} runs`);
});
