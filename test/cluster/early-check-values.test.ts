// The component early-check against the controller's own parsers: of ten thousand values both say the same,
// and of whatever is written the policy says something without an error.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AnnotationValues, worstAnnotations } from "../support/api-server/annotation-values.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { installEarlyCheck, spokenBy } from "../support/api-server/early-check.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { toldByController, type Asked } from "../support/api-server/told-by-controller.ts";

const CHECK = "early-check-of-values";
const [SOURCE, OTHER] = ["secretcast", "default"];

let http: Http;
before(() => {
  http = openCluster(sharedCluster());
});
after(() => http.close());

async function reported({ resource, namespace, annotations }: Asked): Promise<readonly string[]> {
  const path =
    resource === "namespaces"
      ? "/api/v1/namespaces"
      : `/api/v1/namespaces/${namespace}/${resource}`;
  const body = { metadata: { name: "asked", annotations } };
  const answer = await http.send("POST", `${path}?dryRun=All`, { body });
  assert.equal(answer.status, 201);
  return spokenBy(CHECK, answer);
}

const RUNS = Number(process.env["SECRETCAST_TEST_VALUES"] ?? "10000");

const SEED = Number(process.env["SECRETCAST_TEST_SEED"] ?? "20261122");

test("the policy agrees with the parser about ten thousand values, or lets them pass", async (t) => {
  t.after(await installEarlyCheck(http, { name: CHECK, sourceNamespaces: [SOURCE] }));
  const values = new AnnotationValues(SEED);
  const asked: Asked[] = [];
  for (let count = 0; count < RUNS;) {
    const one = values.asked(SOURCE, OTHER);
    asked.push(one);
    count += Object.keys(one.annotations).length;
  }
  let [spoken, silent] = [0, 0];
  const different: unknown[] = [];
  const next = asked.values();
  const work = async (): Promise<void> => {
    for (const one of next) {
      const [is, ought] = [await reported(one), toldByController(one)];
      if (JSON.stringify(is) !== JSON.stringify(ought)) different.push({ one, is, ought });
      if (is.length > 0) spoken++;
      else silent++;
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  t.diagnostic(`${asked.length} requests: ${spoken} told, ${silent} passed`);
  assert.deepEqual(different.slice(0, 3), [], `${different.length} of ${asked.length} differ`);
  assert.ok(silent > asked.length / 20 && spoken > asked.length / 2, "both are worth comparing");
});

test("an update is not blamed for values that were wrong before", async (t) => {
  t.after(await installEarlyCheck(http, { name: CHECK, sourceNamespaces: [SOURCE] }));
  const values = new AnnotationValues(SEED + 1);
  const updates = Array.from({ length: RUNS / 25 }, () => {
    const asked = values.asked(SOURCE, OTHER);
    const resource = asked.resource === "namespaces" ? "secrets" : asked.resource;
    const namespace = asked.publishes ? SOURCE : OTHER;
    return values.changed({ ...asked, resource, namespace });
  });
  const next = updates.entries();
  const different: unknown[] = [];
  let spoken = 0;
  const work = async (_: unknown, worker: number): Promise<void> => {
    const name = `updated-${worker}`;
    for (const [, one] of next) {
      const collection = `/api/v1/namespaces/${one.namespace}/${one.resource}`;
      const bodyOf = (annotations: unknown) => ({ body: { metadata: { name, annotations } } });
      ok(await http.send("POST", collection, bodyOf(one.before)), 201);
      const path = `${collection}/${name}`;
      const answer = await http.send("PUT", `${path}?dryRun=All`, bodyOf(one.annotations));
      ok(answer, 200);
      const [is, ought] = [spokenBy(CHECK, answer), toldByController({ ...one })];
      if (JSON.stringify(is) !== JSON.stringify(ought)) different.push({ one, is, ought });
      if (is.length > 0) spoken++;
      ok(await http.send("DELETE", path), 200);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  t.diagnostic(`${updates.length} updates: ${spoken} told`);
  assert.deepEqual(different.slice(0, 3), [], `${different.length} of ${updates.length} differ`);
  assert.ok(spoken > updates.length / 4 && spoken < updates.length, "both are worth comparing");
});

test("the policy answers every value within its cost limit", async (t) => {
  const name = "early-check-strict";
  const strict = { failurePolicy: "Fail", action: "Deny" } as const;
  t.after(await installEarlyCheck(http, { name, sourceNamespaces: [SOURCE], ...strict }));
  const path = `/api/v1/namespaces/${SOURCE}/secrets?dryRun=All`;
  for (const { what, annotations } of worstAnnotations()) {
    const answer = await http.send("POST", path, {
      body: { metadata: { name: "asked", annotations } },
    });
    if (answer.status !== 201)
      assert.match(
        spokenBy(name, answer)[0] ?? "",
        /^(invalid )?secretcast\.io\/[-a-z0-9]+(: | has no effect)/,
        what,
      );
  }
});
