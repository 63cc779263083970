// The judge's own view of a real server's world, tried on the server in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NAMESPACES, resourcePath, SECRETS } from "../../../packages/kube/rest/resource.ts";
import { FaultyClient } from "../../support/controller/faulty-client.ts";
import { SandboxApi } from "../../support/controller/sandbox-api.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { SeenWorld } from "./seen-world.ts";

test("the judge follows a server that came back without its history", async (t) => {
  const clock = new FakeClock();
  const api = new SandboxApi(clock);
  const way = new FaultyClient({ inner: api.client, clock, fault: () => undefined });
  const reported = new Map<string, string | undefined>();
  const lost: string[] = [];
  const over = new AbortController();
  t.after(() => over.abort());
  const world = new SeenWorld({
    client: way,
    onChange: (slot, raw) => reported.set(slot, raw?.metadata.resourceVersion),
    onLost: (why) => lost.push(why),
  });
  const put = (name: string): Promise<unknown> =>
    api.client.request({
      method: "POST",
      path: resourcePath(SECRETS, "team"),
      body: { metadata: { name }, data: {} },
      what: `make ${name}`,
    });
  const remove = (name: string): Promise<unknown> =>
    api.client.request({
      method: "DELETE",
      path: resourcePath(SECRETS, "team", name),
      what: `remove ${name}`,
    });
  const body = { metadata: { name: "team" } };
  await api.client.request({ method: "POST", path: resourcePath(NAMESPACES), body, what: "team" });
  await put("stays");
  await put("goes");

  await world.begin(over.signal);
  assert.ok(
    reported.has("team") && reported.has("Secret team/stays") && reported.has("Secret team/goes"),
  );
  await put("heard");
  await eventually("what is made is heard of", () => reported.has("Secret team/heard"));

  reported.clear();
  way.cut();
  await eventually("the judge has noticed", () => !world.follows);
  await remove("goes");
  await put("comes");
  api.storage.compact();
  await eventually("the judge follows again", () => world.follows && reported.size >= 2);
  assert.deepEqual([...reported.keys()].toSorted(), ["Secret team/comes", "Secret team/goes"]);
  assert.equal(reported.get("Secret team/goes"), undefined);
  await put("after");
  await eventually("what is made is heard of again", () => reported.has("Secret team/after"));

  const [secrets] = world.worlds();
  const names = ["team/after", "team/comes", "team/heard", "team/stays"];
  assert.deepEqual([...(secrets?.objects.keys() ?? [])].toSorted(), names);
  assert.deepEqual(lost, []);
});
