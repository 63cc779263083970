// What a user with few rights is answered: what they may not read is `unknown`, never a state of the cluster.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { forbidden } from "../support/cli/checked-server.ts";
import { sandboxCluster, type SandboxCluster } from "../support/cli/sandbox-cluster.ts";
import type { JsonObject } from "../../packages/sandbox/storage/object.ts";

const UID = "11111111-1111-1111-1111-111111111111";

function copyOf(source: string, place: string, more: Record<string, string> = {}): JsonObject {
  const [namespace = "", name = ""] = place.split("/");
  const annotations = {
    "secretcast.io/source": source,
    "secretcast.io/source-uid": UID,
    "secretcast.io/placed-at": place,
    "secretcast.io/source-version": "1",
    ...more,
  };
  const labels = { "app.kubernetes.io/managed-by": "secretcast" };
  return { kind: "Secret", metadata: { namespace, name, labels, annotations } };
}

/** A cluster in which only requests to paths that `may` matches are allowed. */
async function readerOf(t: TestContext, may: RegExp): Promise<SandboxCluster> {
  const cluster = await sandboxCluster(t);
  cluster.sandbox.load([
    copyOf("secretcast/registry", "team-a/registry"),
    copyOf("vault/tls", "team-a/tls", {
      "secretcast.io/entry": "tls",
      "secretcast.io/list": "secretcast/secretcast-sources",
    }),
    { kind: "Secret", metadata: { namespace: "team-a", name: "plain" } },
  ]);
  cluster.sandbox.beforeRequest = ({ path, method }) => {
    if (may.test(path)) return undefined;
    const [status, body] = forbidden(method === "GET" ? "get" : "create", path);
    return { status, body };
  };
  return cluster;
}

const TENANT = /^\/api\/v1\/namespaces\/team-a(\/secrets.*)?$/;
const VIEW = /^\/api\/v1\/(namespaces|namespaces\/[^/]+|namespaces\/[^/]+\/configmaps.*)$/;

test("a copy whose source the reader may not read is unknown, never frozen", async (t) => {
  const { run } = await readerOf(t, TENANT);
  const said = await run(["explain", "registry", "-n", "team-a"]);
  assert.match(
    said.stdout,
    /^Secret team-a\/registry: a copy of secretcast\/registry\nunknown, because you may not read namespace secretcast\n/,
  );
  assert.doesNotMatch(said.stdout, /frozen|is not there|secretcast check|403/);
  assert.equal(said.code, 1);
  const json = JSON.parse(
    (await run(["explain", "registry", "-n", "team-a", "-o", "json"])).stdout,
  );
  assert.equal(json.items[0].verdict, "unknown");
});

test("a copy of an entry is unknown to a reader without the source list", async (t) => {
  const { run } = await readerOf(t, TENANT);
  const said = await run(["explain", "tls", "-n", "team-a"]);
  assert.match(
    said.stdout,
    /\nunknown, because you may not read (the source list secretcast\/secretcast-sources|namespace vault)\n/,
  );
  assert.equal(said.code, 1);
});

test("a source that the reader may not read is unknown, and not absent", async (t) => {
  const { run } = await readerOf(t, VIEW);
  const said = await run(["explain", "registry", "-n", "secretcast"]);
  assert.match(
    said.stdout,
    /^Secret secretcast\/registry: unknown: you may not read secrets in namespace secretcast\n/,
  );
  assert.doesNotMatch(said.stdout, /it is not there|there is no/);
  assert.equal(said.code, 1);
  const there = await run(["explain", "registry", "-n", "secretcast", "-o", "json"]);
  assert.equal(JSON.parse(there.stdout).object.is, "unknown");
});

test("a namespace that the reader may not read is not said to be absent", async (t) => {
  const { run } = await readerOf(t, /^\/api\/v1\/(secrets|namespaces\/(secretcast|team-a).*)$/);
  const said = await run(["explain", "registry", "-n", "secretcast", "--in", "team-b"]);
  assert.match(
    said.stdout,
    /team-b\/registry: unknown, because you may not read namespace team-b\n/,
  );
  assert.doesNotMatch(said.stdout, /no such namespace|kubectl create namespace/);
  assert.equal(said.code, 1);
});

test("status and plan show what may not be read as unknown, and exit with 1", async (t) => {
  const { run } = await readerOf(t, TENANT);
  const status = await run(["status", "-n", "team-a"]);
  assert.match(status.stdout, /^secretcast +registry +unknown +0 +0 +0 +0$/m);
  assert.match(
    status.stdout,
    /^unknown +secretcast\/registry +team-a\/registry +you may not read namespace secretcast$/m,
  );
  assert.match(status.stderr, /^not all is current, of what is known$/m);
  assert.equal(status.code, 1);
  const { items } = JSON.parse((await run(["status", "-n", "team-a", "-o", "json"])).stdout);
  const registry = items.find((item: { name: string }) => item.name === "registry");
  assert.deepEqual([registry.state, registry.states.frozen], ["unknown", 0]);
  const plan = await run(["plan", "-n", "team-a"]);
  assert.match(plan.stdout, /^unknown +team-a +registry +secretcast\/registry/m);
  assert.doesNotMatch(plan.stdout + plan.stderr, /frozen/);
  assert.equal(plan.code, 1);
});

test("a Deployment that the reader may not list is said to be their missing right", async (t) => {
  const { run } = await readerOf(t, TENANT);
  const { stderr } = await run(["status", "-n", "team-a"]);
  assert.match(stderr, /you may not list Deployments: the flags of the controller are not known/);
});
