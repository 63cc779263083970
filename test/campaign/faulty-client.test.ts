// The way of a chaos replica to its API server: when it hears of everything, and what ends that.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { FaultyClient, type RequestFault } from "../support/controller/faulty-client.ts";
import { SandboxApi } from "../support/controller/sandbox-api.ts";
import { FakeClock } from "../../packages/kube/testing/fake-clock.ts";

const LIST: ApiRequest = { method: "GET", path: "/api/v1/secrets", what: "list secrets" };
const WATCH: ApiRequest = { ...LIST, query: { watch: true }, what: "watch secrets" };

function faulty(fault: () => RequestFault | undefined = () => undefined): FaultyClient {
  const clock = new FakeClock();
  return new FaultyClient({ inner: new SandboxApi(clock).client, clock, fault });
}

test("a client hears of each watch that begins after a list or a cut", async () => {
  const client = faulty();
  assert.equal(client.hears, true);
  await client.request(LIST);
  assert.equal(client.hears, false);
  await client.open(WATCH);
  assert.equal(client.hears, true);
  client.cut();
  assert.equal(client.hears, false);
  await client.open(WATCH);
  assert.equal(client.hears, true);
  client.expire();
  assert.equal(client.hears, false);
  await client.close();
});

test("a client hears nothing until an ended watch has begun anew", async () => {
  const clock = new FakeClock();
  const server = new SandboxApi(clock);
  const client = new FaultyClient({ inner: server.client, clock, fault: () => undefined });
  await client.request(LIST);
  const { body } = await client.open({ ...WATCH, query: { watch: true, timeoutSeconds: 60 } });
  const read = body[Symbol.asyncIterator]().next();
  assert.equal(client.hears, true);
  await clock.advance(61_000);
  assert.equal((await read).done, true);
  assert.equal(client.hears, false);
  await client.open(WATCH);
  assert.equal(client.hears, true);
  await client.close();
});

for (const kind of ["lost", "hang"] as const)
  test(`a list that is never answered (${kind}) ends with its connection unheard`, async () => {
    const client = faulty(() => ({ kind }));
    const list = client.request(LIST);
    const ended = assert.rejects(list, { status: 0, kind: "unavailable" });
    // The API server has acted by then.
    await new Promise(setImmediate);
    client.reset();
    await ended;
    assert.equal(client.hears, false);
    await client.close();
  });
