import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { LeaseClient } from "./elector-options.ts";
import { createLeaseClient } from "./lease-lock.ts";
import type { Lease } from "./lease-record.ts";
import { answer, bodyOf, serve } from "../testing/http-server.ts";
import type { TestServer } from "../testing/http-server.ts";
import { clientFor } from "../testing/client-for.ts";

const MINE: Lease = { metadata: { namespace: "ns", name: "lock" }, spec: { holderIdentity: "me" } };

/** Holds one Lease, as the API server words its refusals. */
async function setup(t: TestContext): Promise<{ client: LeaseClient; server: TestServer }> {
  let stored: Lease | undefined;
  const server = await serve(t, (request, response) => {
    void bodyOf(request).then((body) => {
      const sent = body as Lease;
      if (request.method === "POST" && stored)
        return answer(response, 409, { kind: "Status", reason: "AlreadyExists" });
      if (request.method !== "POST" && !stored)
        return answer(response, 404, { kind: "Status", reason: "NotFound" });
      if (request.method === "PUT" && sent.metadata.resourceVersion !== "1")
        return answer(response, 409, { kind: "Status", reason: "Conflict" });
      if (request.method !== "GET")
        stored = { ...sent, metadata: { ...sent.metadata, resourceVersion: "1" } };
      return answer(response, 200, stored);
    });
  });
  const api = clientFor(t, server.url);
  return { client: createLeaseClient(api, "ns", "lock"), server };
}

test("LE-01 the election's requests go to the Lease of coordination.k8s.io/v1", async (t) => {
  const { client, server } = await setup(t);
  const { signal } = new AbortController();
  const created = await client.create(MINE, signal);
  assert.equal(created.metadata.resourceVersion, "1");
  assert.deepEqual(await client.get(signal), created);
  assert.deepEqual(await client.update(created, signal), created);
  const collection = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
  assert.deepEqual(server.requests, [
    `POST ${collection}`,
    `GET ${collection}/lock`,
    `PUT ${collection}/lock`,
  ]);
});

test("LE-04 what the server refuses arrives as the kinds that the election tells apart", async (t) => {
  const { client } = await setup(t);
  const { signal } = new AbortController();
  await assert.rejects(client.get(signal), { kind: "notFound" });
  await assert.rejects(client.update(MINE, signal), { kind: "notFound" });
  await client.create(MINE, signal);
  await assert.rejects(client.create(MINE, signal), { kind: "alreadyExists" });
  await assert.rejects(client.update(MINE, signal), { kind: "conflict" });
});
