// A request that waits for a connection may get one long after it was asked for, as in a process that
// was stopped meanwhile: whether it may still begin is asked again then.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { ServerResponse } from "node:http";
import type { ApiRequest } from "./api-client.ts";
import { resourcePath, SECRETS } from "./resource.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { eventually } from "../testing/eventually.ts";
import { failure } from "../testing/failure.ts";
import { answer, serve } from "../testing/http-server.ts";
import { clientFor } from "../testing/client-for.ts";

const read: ApiRequest = {
  method: "GET",
  path: resourcePath(SECRETS, "team-a", "registry"),
  what: "get secret team-a/registry",
};
const create: ApiRequest = {
  method: "POST",
  path: resourcePath(SECRETS, "team-a"),
  body: {},
  what: "create secret team-a/registry",
};

/** One connection, taken by a read whose answer waits; whatever else is asked waits for it. */
async function busy(t: TestContext) {
  const held: ServerResponse[] = [];
  const server = await serve(t, (request, response) => {
    if (request.method === "GET") held.push(response);
    else answer(response, 201, {});
  });
  const clock = new FakeClock();
  const client = clientFor(t, server.url, { clock, connections: 1 });
  const first = client.request(read).catch(() => undefined);
  await eventually("the read has arrived", () => held.length === 1);
  const free = async (): Promise<void> => {
    for (const response of held.splice(0)) answer(response, 200, {});
    await first;
  };
  return { server, client, free };
}

test("LE-12 a write that waited for a connection is not sent after its deadline", async (t) => {
  const { server, client, free } = await busy(t);
  let allowed = true;
  const waiting = client.request({ ...create, mayStillSend: () => allowed });
  const refused = failure(waiting);
  allowed = false;
  await free();
  assert.equal((await refused).kind, "cancelled");
  assert.deepEqual(server.requests, [`GET ${read.path}`]);
  await client.request({ ...create, mayStillSend: () => true });
  assert.deepEqual(server.requests, [`GET ${read.path}`, `POST ${create.path}`]);
});

test("LE-12 a write that may still begin when its connection is free is sent", async (t) => {
  const { server, client, free } = await busy(t);
  let asked = 0;
  const waiting = client.request({
    ...create,
    mayStillSend: () => {
      asked++;
      return true;
    },
  });
  assert.equal(asked, 0, "asked as late as possible");
  await free();
  await waiting;
  assert.equal(asked, 1);
  assert.deepEqual(server.requests, [`GET ${read.path}`, `POST ${create.path}`]);
});

test("LE-12 the second try after a 401 asks again", async (t) => {
  const server = await serve(t, (_, response) => answer(response, 401, { reason: "Unauthorized" }));
  const client = clientFor(t, server.url, { clock: new FakeClock() });
  let left = 1;
  const refused = await failure(client.request({ ...create, mayStillSend: () => left-- > 0 }));
  assert.equal(refused.kind, "cancelled");
  assert.equal(server.requests.length, 1);
});
