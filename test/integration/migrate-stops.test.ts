// A move that is stopped after its writes and begun again; the old tool that writes while it
// goes on; copies by the thousand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../src/kube/rest/api-client.ts";
import { openScene } from "../support/scenes/scene.ts";
import { adoptedPlaces, placeText, WorldScene } from "../support/worlds/world-scene.ts";
import { WORLDS } from "../support/worlds/world.ts";

/** Ends after so many writes: the last is made, and its answer is never heard. */
function dying(client: ApiClient, writes: number): ApiClient {
  let left = writes;
  return {
    ...client,
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (request.method === "GET") return client.request<T>(request);
      if (left-- <= 0) throw new ApiError(request.what, { kind: "cancelled", reason: "Killed" });
      const answer = await client.request<T>(request);
      if (left === 0) throw new ApiError(request.what, { kind: "cancelled", reason: "Killed" });
      return answer;
    },
  };
}

for (const world of WORLDS) {
  test(`${world}: a move that dies after its writes loses nothing and ends where one ends that does not`, async (t) => {
    const scene = await openScene(t);
    const stage = new WorldScene(scene, world);
    await stage.load(t);
    const planned = await stage.plan();
    const places = adoptedPlaces(planned);
    const before = await stage.contents();
    const unmanagedObjects = [...(await stage.versions())].filter(([place]) => {
      const own = planned.sources.some((source) => placeText(source.place) === place);
      return !own && !places.includes(place);
    });
    // A dozen runs are as telling as one a write; test/campaign/migrate-crashes.test.ts dies with reads too.
    const each = Math.ceil(places.length / 12);
    let runs = 0;
    for (let written = 1; written > 0; runs++) {
      const { result } = await stage.move({ client: dying(stage.client, each) });
      const { sources, namespaces, copies } = result.written;
      written = sources + namespaces + copies + result.failures.length;
      const now = await stage.contents();
      for (const [place, data] of before)
        assert.equal(now.get(place), data, `${place} is as it was`);
      const versions = await stage.versions();
      for (const [place, version] of unmanagedObjects)
        assert.equal(versions.get(place), version, place);
    }
    assert.ok(runs > places.length / each, "it died again and again");
    const after = await stage.plan();
    const adopted = after.copies.filter(({ state }) => state === "adopted");
    assert.deepEqual(adopted.map(({ object }) => placeText(object)).toSorted(), places.toSorted());
  });
}

test("a copy that the old tool writes while the move goes on keeps what was written, and is told", async (t) => {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, "replicator");
  await stage.load(t);
  const { client } = stage;
  let meddled = "";
  const meddling: ApiClient = {
    ...client,
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (meddled === "" && request.method === "PATCH" && request.what.includes("team-a/smtp")) {
        meddled = request.what;
        await scene.api.annotate("team-a", "smtp", {
          "replicator.v1.mittwald.de/replicated-at": "2026-11-22T09:00:00Z",
        });
      }
      return client.request<T>(request);
    },
  };
  const { result } = await stage.move({ client: meddling });
  assert.equal(meddled, "adopt Secret team-a/smtp");
  assert.deepEqual(result.failures, [
    "adopt Secret team-a/smtp: somebody changed it meanwhile; left alone, run it again to look at it anew",
  ]);
  const left = (await scene.api.secret("team-a", "smtp"))?.metadata;
  assert.equal(left?.annotations?.["secretcast.io/source"], undefined);
  assert.deepEqual((await stage.move()).result.written, { sources: 0, namespaces: 0, copies: 1 });
});

test("once the old tool runs again no more is written", async (t) => {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, "kubed");
  await stage.load(t);
  const before = await stage.versions();
  const running = "Pod kubed/kubed-1 runs the old tool's image";
  const { result } = await stage.move({ obstacle: () => Promise.resolve(running) });
  assert.deepEqual(result, {
    written: { sources: 0, namespaces: 0, copies: 0 },
    failures: [running],
  });
  assert.deepEqual(await stage.versions(), before);
});

test("5,000 copies are moved, and how far it is is told", async (t) => {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, "kyverno");
  // A real server takes a minute to be rid of 200 namespaces.
  const [namespaces, sources] = scene.sandbox ? [200, 25] : [50, 100];
  await stage.loadMany(t, namespaces, sources);
  const told: number[] = [];
  const { result } = await stage.move({ onProgress: (done) => void told.push(done) });
  assert.deepEqual(result, {
    written: { sources, namespaces: 0, copies: 5000 },
    failures: [],
  });
  assert.deepEqual(
    told,
    Array.from({ length: 5000 + sources }, (_, index) => index + 1),
  );
});
