// What makes `rotation` answer 2: copies that are not current, and objects that have an older value unnoticed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";
import {
  AFTERWARDS,
  at,
  BEFORE,
  namespaceObject,
  rotated,
  rotationCluster,
  secretObject,
  withVariable,
  withVolume,
  type RotationCluster,
} from "../../support/cli/rotation-cluster.ts";

const STATES: readonly (readonly [
  state: string,
  change: (cluster: RotationCluster) => Promise<void>,
  verdict: string,
])[] = [
  ["an update that has not been made", (cluster) => rotate(cluster), "update"],
  [
    "a pause",
    (cluster) =>
      annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/paused": "true" }),
    "paused",
  ],
  [
    "a namespace that cannot be understood",
    async (cluster) => {
      const change = { metadata: { annotations: { "secretcast.io/accept": "x/y/z" } } };
      await cluster.patch("/api/v1/namespaces/team-a", change);
    },
    "frozen",
  ],
  [
    "a mark of a newer version",
    (cluster) => annotate(cluster, "team-a/secrets/registry", { "secretcast.io/newer": "1" }),
    "frozen",
  ],
  [
    "a source that is refused",
    (cluster) =>
      annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/to-selecter": "x" }),
    "frozen",
  ],
  [
    "an unmanaged Secret in the way",
    async (cluster) => {
      await cluster.http.send("DELETE", "/api/v1/namespaces/team-a/secrets/registry");
      await cluster.create("/api/v1/namespaces/team-a/secrets", secretObject("team-a/registry"));
    },
    "conflict",
  ],
  [
    "a copy that is missing",
    async (cluster) => {
      await cluster.http.send("DELETE", "/api/v1/namespaces/team-a/secrets/registry");
    },
    "create",
  ],
  [
    "a copy that is no longer wanted",
    (cluster) => annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/to": "team-b" }),
    "delete",
  ],
];

async function rotate(cluster: RotationCluster): Promise<void> {
  const data = { password: Buffer.from("another").toString("base64") };
  await cluster.patch("/api/v1/namespaces/secretcast/secrets/registry", { data });
}

function annotate(cluster: RotationCluster, path: string, annotations: JsonObject): Promise<void> {
  return cluster.patch(`/api/v1/namespaces/${path}`, { metadata: { annotations } });
}

for (const [state, change, verdict] of STATES)
  test(`${state} makes it 2: ${verdict}`, async (t) => {
    const cluster = await rotationCluster(t);
    assert.equal((await cluster.rotation()).code, 0);
    await change(cluster);
    const answer = await rotated(cluster);
    assert.equal(answer.code, 2, answer.stderr);
    assert.equal(at(answer, "team-a/registry").verdict, verdict);
    assert.ok(answer.blockers.some(({ code }) => code === "NotCurrent"));
  });

test("copies that the fan-out limit holds back make it 2", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.create("/api/v1/namespaces", namespaceObject("team-c"));
  const answer = await rotated(cluster, "--fanout-limit", "1");
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-c/registry").verdict, "held");
});

test("an immutable copy is replaced, and Pods keep the volume with which they started", async (t) => {
  const source = secretObject("secretcast/registry", { "secretcast.io/to": "team-*" });
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    { ...source, immutable: true },
  ]);
  await cluster.pod("team-a/files", withVolume("registry"));
  await cluster.http.send("DELETE", "/api/v1/namespaces/secretcast/secrets/registry");
  const rotatedSource = secretObject(
    "secretcast/registry",
    { "secretcast.io/to": "team-*" },
    { password: "another" },
  );
  await cluster.create("/api/v1/namespaces/secretcast/secrets", {
    ...rotatedSource,
    immutable: true,
  });
  const pending = await rotated(cluster, "--sync-period", "0");
  assert.equal(at(pending, "team-a/registry").verdict, "replace");
  await cluster.copy();
  const answer = await rotated(cluster, "--sync-period", "0");
  assert.equal(answer.code, 2);
  const { verdict, holders } = at(answer, "team-a/registry");
  assert.deepEqual([verdict, holders[0]?.holds[0]?.code], ["current", "VolumeImmutable"]);
});

test("Pods of a copy without the present value hold an older one, whenever they started", async (t) => {
  const cluster = await rotationCluster(t);
  await rotate(cluster);
  await cluster.pod("team-a/new", withVolume("registry"), {
    phase: "Running",
    startTime: AFTERWARDS,
  });
  const answer = await rotated(cluster, "--sync-period", "0");
  assert.equal(at(answer, "team-a/registry").value, "older");
  assert.equal(at(answer, "team-a/registry").holders[0]?.holds[0]?.code, "CopyNotCurrent");
});

test("a filled pulling Secret counts if a started Pod uses it", async (t) => {
  const from = { "secretcast.io/from": "secretcast/registry" };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a", "shop"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/allow": "team-*" }),
    secretObject("team-a/mine", from, {}),
    secretObject("shop/stolen", from, {}),
  ]);
  await cluster.pod("shop/web", withVariable("stolen"), { phase: "Pending" });
  const safe = await rotated(cluster);
  assert.equal(safe.code, 0, safe.stderr);
  assert.equal(at(safe, "team-a/mine").role, "pulling");
  assert.equal(safe.items.length, 2);
  await cluster.pod("team-a/web", withVariable("mine"));
  assert.deepEqual((await rotated(cluster)).blockers, [{ code: "PodsHold", count: 1 }]);
  // It names another source now, and its entries stay until they are removed.
  await cluster.pod("team-a/newer", withVariable("mine"), {
    phase: "Running",
    startTime: AFTERWARDS,
  });
  await annotate(cluster, "team-a/secrets/mine", { "secretcast.io/from": "secretcast/other" });
  const left = await rotated(cluster);
  assert.equal(at(left, "team-a/mine").code, "NotKept");
  assert.deepEqual(
    at(left, "team-a/mine")
      .holders.map(({ pod }) => pod)
      .toSorted(),
    ["newer", "web"],
  );
});

test('entries that the source filled stay when their owner takes "from" off: 2', async (t) => {
  const from = { "secretcast.io/from": "secretcast/registry" };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/allow": "team-*" }),
    secretObject("team-a/mine", from, {}),
  ]);
  await annotate(cluster, "team-a/secrets/mine", { "secretcast.io/from": null });
  await rotate(cluster);
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  const { role, code } = at(answer, "team-a/mine");
  assert.deepEqual([role, code], ["pulling", "NotKept"]);
  await annotate(cluster, "team-a/secrets/mine", { "secretcast.io/source-uid": null });
  assert.equal((await rotated(cluster)).code, 0);
});

test("a copy outside --namespaces keeps what it has: 2, and its Pods are listed", async (t) => {
  const cluster = await rotationCluster(t);
  await rotate(cluster);
  const flags = ["--namespaces", "secretcast,team-a"];
  await cluster.copy(...flags);
  await cluster.pod("team-b/web", withVariable("registry"));
  const answer = await rotated(cluster, ...flags);
  assert.equal(answer.code, 2);
  const { code, holders } = at(answer, "team-b/registry");
  assert.deepEqual([code, holders.map(({ pod }) => pod)], ["NotKept", ["web"]]);
});

test("a copy whose name --only-names leaves out keeps what it has: 2", async (t) => {
  const renamed = { "secretcast.io/to": "team-*", "secretcast.io/name": "db" };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", renamed),
  ]);
  await annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/name": null });
  const flags = ["--only-names", "registry"];
  await cluster.copy(...flags);
  const answer = await rotated(cluster, ...flags);
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-a/db").code, "NotKept");
});

test("a copy without managedFields is unsafe only if a Pod uses it", async (t) => {
  const cluster = await rotationCluster(t);
  // The sandbox records managers always, as the API server does unless somebody clears the record.
  const { body } = await cluster.http.send("GET", "/api/v1/secrets");
  const list = body as { readonly items: readonly { readonly metadata: JsonObject }[] };
  const items = list.items.map(({ metadata, ...rest }) => {
    const { managedFields: _, ...others } = metadata;
    return { ...rest, metadata: others };
  });
  cluster.sandbox.beforeRequest = ({ path }) =>
    path.startsWith("/api/v1/secrets") ? { status: 200, body: { ...list, items } } : undefined;
  assert.equal((await rotated(cluster)).code, 0);
  await cluster.pod("team-a/web", withVariable("registry"), {
    phase: "Running",
    startTime: AFTERWARDS,
  });
  const answer = await rotated(cluster);
  const { value, since, holders } = at(answer, "team-a/registry");
  assert.deepEqual(
    [value, since, holders[0]?.holds[0]?.code],
    ["present", undefined, "TimeUnknown"],
  );
  assert.match(
    (await cluster.rotation()).stdout,
    /^team-a +registry +copy +present +unknown +current +1 Pod /m,
  );
});

test("a Pod that runs with a deleted copy still holds it", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.create("/api/v1/namespaces", namespaceObject("old-team"));
  const running = { name: "app", state: { running: { startedAt: BEFORE } } };
  const status = { phase: "Running", startTime: BEFORE };
  await cluster.pod("old-team/stuck", withVariable("registry"), status);
  const early = await cluster.rotation();
  assert.equal(early.code, 2, "its node may be about to report a start");
  const stuck = await cluster.rotation("--sync-period", "0");
  assert.equal(stuck.code, 0, "its container never started");
  await cluster.pod("old-team/web", withVariable("registry"), {
    ...status,
    containerStatuses: [running],
  });
  const answer = await rotated(cluster, "--sync-period", "0");
  assert.equal(answer.code, 2);
  assert.deepEqual(
    at(answer, "old-team/registry").holders.map(({ pod }) => pod),
    ["web"],
  );
  assert.equal(at(answer, "old-team/registry").role, "former");
});

test("a copy that was restored elsewhere, with its marks, is not kept by anybody: 2", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.create("/api/v1/namespaces", namespaceObject("restored"));
  const { body } = await cluster.http.send("GET", "/api/v1/namespaces/team-a/secrets/registry");
  const copy = body as { readonly data: JsonObject; readonly metadata: JsonObject };
  const { labels, annotations } = copy.metadata;
  const metadata = {
    name: "registry",
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
  await cluster.create("/api/v1/namespaces/restored/secrets", {
    kind: "Secret",
    metadata,
    data: copy.data,
  });
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "restored/registry").code, "NotKept");
});

/** A Pod with a container that runs since then. */
function running(startedAt: string): JsonObject {
  return {
    phase: "Running",
    startTime: BEFORE,
    containerStatuses: [{ name: "app", state: { running: { startedAt } } }],
  };
}

test("a pulling Secret that was cleared counts until its Pods are newer", async (t) => {
  const from = { "secretcast.io/from": "secretcast/registry" };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a", "team-b"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/allow": "team-*" }),
    secretObject("team-a/mine", from, {}),
    secretObject("team-b/mine", from, {}),
  ]);
  await cluster.pod("team-a/web", withVariable("mine"), running(BEFORE));
  await annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/allow": "team-b" });
  await cluster.copy("--delete-hold=0");
  await rotate(cluster);
  await cluster.copy("--delete-hold=0");
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  const { role, holders } = at(answer, "team-a/mine");
  assert.deepEqual([role, holders.map(({ pod }) => pod)], ["former", ["web"]]);
});

test("what a former source with another UID filled makes it 2", async (t) => {
  const from = { "secretcast.io/from": "secretcast/registry" };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/allow": "team-*" }),
    secretObject("team-a/mine", from, {}),
  ]);
  await annotate(cluster, "team-a/secrets/mine", { "secretcast.io/from": null });
  await cluster.http.send("DELETE", "/api/v1/namespaces/secretcast/secrets/registry");
  const allow = { "secretcast.io/allow": "team-*" };
  await cluster.create(
    "/api/v1/namespaces/secretcast/secrets",
    secretObject("secretcast/registry", allow, { password: "another" }),
  );
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-a/mine").code, "NotKept");
});

test("a tenant's own Secret at a former place does not hide an older Pod", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/web", withVariable("registry"), running(BEFORE));
  await annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/to": "team-b" });
  await cluster.http.send("DELETE", "/api/v1/namespaces/team-a/secrets/registry");
  const own = secretObject("team-a/registry", {}, { password: "own" });
  await cluster.create("/api/v1/namespaces/team-a/secrets", own);
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-a/registry").holders[0]?.holds[0]?.code, "FormerContent");
});

test("a volume with an entry that was renamed is never refreshed", async (t) => {
  const cluster = await rotationCluster(t);
  const spec = withVolume("registry");
  const items = [{ key: "password", path: "password" }];
  await cluster.pod("team-a/web", {
    ...spec,
    volumes: [{ name: "v", secret: { secretName: "registry", items } }],
  });
  assert.equal((await rotated(cluster, "--sync-period", "0")).code, 0);
  const data = { password: null, password2: Buffer.from("another").toString("base64") };
  await cluster.patch("/api/v1/namespaces/secretcast/secrets/registry", { data });
  await cluster.copy();
  const answer = await rotated(cluster, "--sync-period", "0");
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-a/registry").holders[0]?.holds[0]?.code, "VolumeLacksEntry");
});

test("a removed copy without holds may have existed for the grace", async (t) => {
  const cluster = await rotationCluster(t);
  await annotate(cluster, "secretcast/secrets/registry", { "secretcast.io/to": "team-b" });
  await cluster.copy("--delete-hold=0");
  const { containers } = withVariable("registry");
  const optional: JsonObject = JSON.parse(
    JSON.stringify({ containers }).replaceAll(
      '"secretKeyRef":{',
      '"secretKeyRef":{"optional":true,',
    ),
  );
  await cluster.pod("team-a/web", optional, running(AFTERWARDS));
  assert.equal((await rotated(cluster, "--delete-hold=0", "--delete-grace=10s")).code, 0);
  const answer = await rotated(cluster, "--delete-hold=0", "--delete-grace=1h");
  assert.equal(answer.code, 2);
  assert.equal(at(answer, "team-a/registry").holders[0]?.holds[0]?.code, "FormerCopy");
});

for (const [reason, words] of [
  ["its namespace is left out", { "secretcast.io/to": "team-b" }],
  ["copies have another name now", { "secretcast.io/name": "renamed" }],
] as const)
  test(`a released copy counts as long as it has what secretcast wrote: ${reason}`, async (t) => {
    const cluster = await rotationCluster(t);
    const keep = { "secretcast.io/on-delete": "keep" };
    await annotate(cluster, "secretcast/secrets/registry", { ...keep, ...words });
    await cluster.copy("--delete-hold=0");
    await rotate(cluster);
    await cluster.copy("--delete-hold=0");
    await cluster.pod("team-a/web", withVariable("registry"), running(AFTERWARDS));
    const answer = await rotated(cluster);
    assert.equal(answer.code, 2);
    assert.equal(at(answer, "team-a/registry").code, "NotKept");
  });
