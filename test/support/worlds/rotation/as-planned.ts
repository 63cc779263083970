// The world of rotations on a real API server is what its plan says, before any command is judged by it.
import assert from "node:assert/strict";
import { field, type Http } from "../../../../packages/sandbox/testing/http.ts";
import type { RotationJudge } from "./rotation-judge.ts";
import { timeText } from "./pod-uses.ts";
import { readersOf, readerText } from "./readers.ts";
import { holdersOf, pullersOf } from "./truth.ts";
import { namespaceName, type Place, type RotationWorld } from "./world-parts.ts";

/** Values, times, Pods and bindings. */
export async function assertAsPlanned({ http, world, pods }: RotationJudge): Promise<void> {
  assert.equal(world.sources.length, 4);
  assert.equal(world.namespaces.length, 300);
  assert.equal(world.bindings.length, 60);
  for (const { namespace, name, role, state, since } of world.places) {
    const { body } = await http.send("GET", `/api/v1/namespaces/${namespace}/secrets/${name}`);
    const value = Buffer.from(String(field(body, "data", "value")), "base64").toString();
    const expected = {
      current: "new",
      stale: "old",
      conflict: role === "copy" ? "another" : "own",
    };
    assert.equal(value, expected[state], `${namespace}/${name}`);
    if (role === "copy" && state === "conflict") continue;
    const entries: unknown = field(body, "metadata", "managedFields");
    assert.ok(Array.isArray(entries));
    const ofData = entries.filter((entry) => field(entry, "fieldsV1", "f:data") !== undefined);
    assert.ok(ofData.length > 0);
    for (const entry of ofData)
      assert.equal(Date.parse(String(field(entry, "time"))), since * 1000, `${namespace}/${name}`);
  }
  const all = await http.send("GET", "/api/v1/pods");
  const there = field(all.body, "items");
  assert.ok(Array.isArray(there));
  const startOf = (pod: unknown): string => {
    const start = field(pod, "status", "startTime");
    return `${String(field(pod, "metadata", "namespace"))}/${String(field(pod, "metadata", "name"))} ${typeof start === "string" ? start : ""}`;
  };
  assert.deepEqual(
    there.map(startOf).toSorted(),
    pods
      .map(({ namespace, name, timing }) => {
        const start = timing.kind === "unstarted" ? "" : timeText(timing.at);
        return `${namespace}/${name} ${start}`;
      })
      .toSorted(),
  );
  assert.equal(pods.length, 3000);
  const holders = (source: string): number =>
    holdersOf(world, pods, source, { now: world.now, syncPeriod: 120 }).length;
  assert.ok(holders("w-platform/registry") > 100);
  assert.ok(holders("w-platform/db") > 100);
  assert.ok(holders("w-platform/api-token") > 50);
  assert.equal(holders("w-security/wildcard-tls"), 0);
  const bound = await http.send("GET", "/apis/rbac.authorization.k8s.io/v1/rolebindings");
  const own = field(bound.body, "items");
  assert.ok(Array.isArray(own));
  const ofWorld = own.filter((each) =>
    String(field(each, "metadata", "name")).startsWith("w-role"),
  );
  assert.equal(ofWorld.length, 45);
  assert.ok(pullersOf(world, pods, "w-platform/registry").length > 50);
  for (const n of [0, 4, 110]) {
    const place = world.places.find(({ namespace }) => namespace === namespaceName("w", n));
    assert.ok(place);
    assert.deepEqual(await allowedAt(http, world, place), readersOf(place, world.bindings));
  }
}

/** The readers of the world's bindings whom the API server lets read the Secret. */
async function allowedAt(http: Http, { bindings }: RotationWorld, { namespace, name }: Place) {
  const readers = bindings.flatMap(({ subjects }) => subjects);
  const may = await Promise.all(
    readers.map(async (reader) => {
      const who =
        reader.kind === "User"
          ? { user: reader.name }
          : reader.kind === "Group"
            ? { user: "somebody", groups: [reader.name] }
            : { user: `system:serviceaccount:${reader.namespace ?? ""}:${reader.name}` };
      for (const verb of ["get", "list", "watch"]) {
        const resourceAttributes = { verb, resource: "secrets", namespace, name };
        const { body } = await http.send(
          "POST",
          "/apis/authorization.k8s.io/v1/subjectaccessreviews",
          { body: { spec: { ...who, resourceAttributes } } },
        );
        if (field(body, "status", "allowed") === true) return true;
      }
      return false;
    }),
  );
  return [...new Set(readers.filter((_, index) => may[index]).map(readerText))].toSorted();
}
