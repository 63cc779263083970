// One annotation of a Lease: written by its holder alone, beside whatever else is on it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type ApiErrorKind } from "../../../src/kube/rest/api-error.ts";
import { LeaseAnnotation } from "../../../src/kube/leaderelection/lease-annotation.ts";
import type { LeaseClient } from "../../../src/kube/leaderelection/elector-options.ts";
import type { Lease } from "../../../src/kube/leaderelection/lease-record.ts";

const KEY = "example.com/note";
const { signal } = new AbortController();

/** One Lease; `races` renewals come before our next updates. */
function server(lease: Lease | undefined, races = 0) {
  const state = { lease, writes: 0 };
  let left = races;
  const fail = (kind: ApiErrorKind): never => {
    throw new ApiError("lease", { kind, reason: kind });
  };
  const client: LeaseClient = {
    get: async () => structuredClone(state.lease) ?? fail("notFound"),
    create: async (created) => {
      if (state.lease) fail("alreadyExists");
      state.writes++;
      return (state.lease = created);
    },
    update: async (updated) => {
      if (left-- > 0) fail("conflict");
      state.writes++;
      return (state.lease = updated);
    },
  };
  return { state, client };
}

function annotation(client: LeaseClient, identity: string | undefined): LeaseAnnotation {
  return new LeaseAnnotation({ client, namespace: "own", name: "lease", key: KEY, identity });
}

function leaseOf(holderIdentity: string): Lease {
  return {
    metadata: {
      namespace: "own",
      name: "lease",
      resourceVersion: "1",
      annotations: { other: "o" },
    },
    spec: { holderIdentity, leaseDurationSeconds: 15 },
  };
}

test("an annotation is written beside what else is on the Lease, and taken off again", async () => {
  const { state, client } = server(leaseOf("us"));
  const note = annotation(client, "us");
  assert.equal(await note.read(signal), undefined);
  await note.write(() => "text", signal);
  assert.equal(await note.read(signal), "text");
  assert.deepEqual(state.lease?.metadata["annotations"], { other: "o", [KEY]: "text" });
  assert.deepEqual(state.lease.spec, leaseOf("us").spec);
  await note.write((before) => before, signal);
  assert.equal(state.writes, 1, "what is equal is not written");
  await note.write(() => undefined, signal);
  assert.deepEqual(state.lease.metadata["annotations"], { other: "o" });
});

test("a client that does not hold the Lease writes nothing on it", async () => {
  for (const lease of [leaseOf("another"), leaseOf(""), undefined]) {
    const { state, client } = server(lease);
    await assert.rejects(
      annotation(client, "us").write(() => "text", signal),
      /another holder/,
    );
    assert.equal(state.writes, 0);
  }
});

test("a renewal in between is not undone, and does not go on for ever", async () => {
  const raced = server(leaseOf("us"), 4);
  await annotation(raced.client, "us").write(() => "text", signal);
  assert.equal(raced.state.writes, 1);
  const always = server(leaseOf("us"), Number.POSITIVE_INFINITY);
  await assert.rejects(
    annotation(always.client, "us").write(() => "text", signal),
    /conflict/,
  );
});

test("without an election the Lease is created where it is missing, and its holder left alone", async () => {
  const missing = server(undefined);
  await annotation(missing.client, undefined).write(() => "text", signal);
  assert.deepEqual(missing.state.lease?.metadata["annotations"], { [KEY]: "text" });
  const held = server(leaseOf("another"));
  await annotation(held.client, undefined).write(() => "text", signal);
  assert.equal(held.state.lease?.spec?.holderIdentity, "another");
});
