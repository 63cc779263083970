// The judge's own view of a real server's world, tried on the server in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NAMESPACES, resourcePath, SECRETS } from "../../../packages/kube/rest/resource.ts";
import { FaultyClient } from "../../support/controller/faulty-client.ts";
import { SandboxApi } from "../../support/controller/sandbox-api.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { SeenWorld } from "./seen-world.ts";

test("the judge follows again after a server came back without its history, and misses nothing that is there", async (t) => {
  const clock = new FakeClock();
  const api = new SandboxApi(clock);
  const way = new FaultyClient({ inner: api.client, clock, fault: () => undefined });
  const told = new Map<string, string | undefined>();
  const lost: string[] = [];
  const over = new AbortController();
  t.after(() => over.abort());
  const world = new SeenWorld({
    client: way,
    onChange: (slot, raw) => told.set(slot, raw?.metadata.resourceVersion),
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
  assert.ok(told.has("team") && told.has("Secret team/stays") && told.has("Secret team/goes"));
  await put("heard");
  await eventually("what is made is heard of", () => told.has("Secret team/heard"));

  told.clear();
  way.cut();
  await eventually("the judge has noticed", () => !world.follows);
  await remove("goes");
  await put("comes");
  api.storage.compact();
  await eventually("the judge follows again", () => world.follows && told.size >= 2);
  assert.deepEqual([...told.keys()].toSorted(), ["Secret team/comes", "Secret team/goes"]);
  assert.equal(told.get("Secret team/goes"), undefined);
  await put("after");
  await eventually("what is made is heard of again", () => told.has("Secret team/after"));

  const [secrets] = world.worlds();
  const names = ["team/after", "team/comes", "team/heard", "team/stays"];
  assert.deepEqual([...(secrets?.objects.keys() ?? [])].toSorted(), names);
  assert.deepEqual(lost, []);
});
