// The kinds that the sandbox keeps as they come, for controllers of others.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { startSandbox } from "./server.ts";
import { field, openHttp } from "./testing/http.ts";
import { eventually } from "@secretcast/kube/testing/eventually";

async function open(t: TestContext, shallowKinds = true) {
  const sandbox = await startSandbox({ shallowKinds, terminationDelayMs: 0 });
  const http = openHttp(sandbox);
  t.after(async () => {
    await http.close();
    await sandbox.stop();
  });
  return async (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    accept = "application/json",
    contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json",
  ) => {
    const { status: code, body: answered } = await http.send(method, path, {
      body,
      accept,
      contentType,
    });
    return { code, body: answered };
  };
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ICES = "/apis/example.com/v1alpha1/namespaces/default/ices";

const properties = {
  spec: {
    type: "object",
    properties: {
      flavour: { type: "string" },
      scoops: { type: "integer", default: 2 },
      toppings: { type: "array", items: { type: "string" } },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
  status: { type: "object", properties: { served: { type: "boolean" } } },
};
const definition = {
  metadata: { name: "ices.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Ice", plural: "ices", singular: "ice" },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties } },
      },
    ],
  },
};

test("a sandbox serves Pods and CustomResourceDefinitions only where it was asked to", async (t) => {
  const send = await open(t, false);
  for (const path of [PODS, DEPLOYMENTS, DEFINITIONS])
    assert.equal((await send("GET", path)).code, 404, path);
  assert.equal(JSON.stringify(await send("GET", "/apis")).includes("apps"), false);
});

test("a Pod is kept as created, and its status is written under /status alone", async (t) => {
  const send = await open(t);
  const pod = { metadata: { name: "web" }, spec: { any: "thing" }, status: { phase: "Running" } };
  const made = await send("POST", PODS, pod);
  assert.equal(made.code, 201);
  assert.deepEqual(field(made.body, "spec"), { any: "thing" });
  assert.deepEqual(field(made.body, "status"), { phase: "Pending" });
  const status = { status: { phase: "Running" } };
  const main = await send("PATCH", `${PODS}/web`, status);
  assert.deepEqual(field(main.body, "status"), { phase: "Pending" });
  const sub = await send("PATCH", `${PODS}/web/status`, { ...status, spec: { any: "other" } });
  assert.deepEqual(field(sub.body, "status"), { phase: "Running" });
  assert.deepEqual(field(sub.body, "spec"), { any: "thing" });
});

test("a loaded object has the status that it is loaded with", async (t) => {
  const sandbox = await startSandbox({ shallowKinds: true });
  t.after(() => sandbox.stop());
  const custom = { apiVersion: "example.com/v1alpha1", kind: "Ice" };
  sandbox.load([
    { kind: "Pod", metadata: { name: "web" }, spec: {}, status: { phase: "Running" } },
    {
      ...definition,
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      status: { conditions: [], storedVersions: [] },
    },
    { ...custom, metadata: { name: "one" }, status: { served: true } },
  ]);
  const get = async (path: string): Promise<unknown> => (await fetch(sandbox.url + path)).json();
  assert.deepEqual(field(await get(`${PODS}/web`), "status"), { phase: "Running" });
  assert.deepEqual(field(await get(`${ICES}/one`), "status"), { served: true });
  const served = await get(`${DEFINITIONS}/ices.example.com`);
  assert.equal(field(served, "status", "conditions", 1, "type"), "Established");
});

test("a generation grows with the spec, and with nothing else", async (t) => {
  const send = await open(t);
  const generation = async (body: unknown) =>
    field((await send("PATCH", `${DEPLOYMENTS}/web`, body)).body, "metadata", "generation");
  const made = await send("POST", DEPLOYMENTS, {
    metadata: { name: "web" },
    spec: { replicas: 1 },
  });
  assert.equal(field(made.body, "metadata", "generation"), 1);
  assert.equal(await generation({ metadata: { labels: { a: "b" } } }), 1);
  assert.equal(await generation({ spec: { replicas: 2 } }), 2);
});

test("a CustomResourceDefinition brings its kind: discovery, pruning, defaults, status; gone with it", async (t) => {
  const send = await open(t);
  assert.equal((await send("GET", ICES)).code, 404);
  const made = await send("POST", DEFINITIONS, definition);
  assert.equal(made.code, 201);
  assert.deepEqual(field(made.body, "status", "conditions", 1, "type"), "Established");
  const listed = await send("GET", "/apis/example.com/v1alpha1");
  assert.deepEqual(
    [0, 1].map((at) => field(listed.body, "resources", at, "name")),
    ["ices", "ices/status"],
  );
  const groups = JSON.stringify((await send("GET", "/apis")).body);
  assert.ok(groups.includes('"groupVersion":"example.com/v1alpha1"'));
  const body = {
    metadata: { name: "one" },
    spec: { flavour: "lemon", unknown: 1, free: { any: { thing: 1 } }, toppings: [] },
    status: { served: true },
  };
  const ice = await send("POST", ICES, body);
  assert.equal(ice.code, 201);
  const spec = { flavour: "lemon", scoops: 2, free: { any: { thing: 1 } }, toppings: [] };
  assert.deepEqual(field(ice.body, "spec"), spec);
  assert.equal(field(ice.body, "status"), undefined);
  const strategic = "application/strategic-merge-patch+json";
  const merged = await send("PATCH", `${ICES}/one`, { spec: { scoops: 3 } }, undefined, strategic);
  assert.equal(merged.code, 415, "as the real server");
  const served = await send("PATCH", `${ICES}/one/status`, { status: { served: true } });
  assert.deepEqual(field(served.body, "status"), { served: true });
  const described = (await send("GET", "/openapi/v3/apis/example.com/v1alpha1")).body;
  assert.match(JSON.stringify(described), /"scoops":\{"type":"integer"/, "kubectl explain");
  assert.equal((await send("DELETE", `${DEFINITIONS}/ices.example.com`)).code, 200);
  assert.equal((await send("GET", ICES)).code, 404);
  await send("POST", DEFINITIONS, definition);
  assert.deepEqual(field((await send("GET", ICES)).body, "items"), []);
});

test("a definition that cannot be served is refused, and says which field", async (t) => {
  const send = await open(t);
  const refused = async (spec: object, name = "ices.example.com") => {
    const body = { metadata: { name }, spec: { ...definition.spec, ...spec } };
    const answer = await send("POST", DEFINITIONS, body);
    return [answer.code, field(answer.body, "details", "causes", 0, "field")];
  };
  assert.deepEqual(await refused({ group: "apps" }, "ices.apps"), [422, "spec.group"]);
  assert.deepEqual(await refused({}, "ices.other.com"), [422, "metadata.name"]);
  assert.deepEqual(await refused({ names: { plural: "ices" } }), [422, "spec.names.kind"]);
  assert.deepEqual(await refused({ versions: [] }), [422, "spec.versions"]);
});

test("what is in a namespace goes with it, of every kind", async (t) => {
  const send = await open(t);
  await send("POST", DEFINITIONS, definition);
  await send("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  const inShop = [PODS, DEPLOYMENTS, ICES].map((path) => path.replace("/default/", "/shop/"));
  for (const path of inShop)
    assert.equal((await send("POST", path, { metadata: { name: "x" }, spec: {} })).code, 201);
  await send("DELETE", "/api/v1/namespaces/shop");
  const gone = async () => (await send("GET", "/api/v1/namespaces/shop")).code === 404;
  await eventually("the namespace is gone", gone);
  for (const path of inShop)
    assert.deepEqual(field((await send("GET", path)).body, "items"), [], path);
});

test("every served version, declared columns and categories of a definition are served", async (t) => {
  const send = await open(t);
  const [first] = definition.spec.versions;
  const columns = [
    { name: "Flavour", type: "string", jsonPath: ".spec.flavour" },
    { name: "Scoops", type: "integer", jsonPath: ".spec.scoops" },
    { name: "First", type: "string", jsonPath: ".spec.toppings[0]", priority: 1 },
    { name: "Ready", type: "string", jsonPath: '.spec.free.list[?(@.type=="Ready")].status' },
  ];
  const versions = [
    first,
    { ...first, name: "v1", storage: false, additionalPrinterColumns: columns },
  ];
  const names = { ...definition.spec.names, categories: ["all"] };
  const spec = { ...definition.spec, names, versions };
  assert.equal((await send("POST", DEFINITIONS, { ...definition, spec })).code, 201);
  const group = await send("GET", "/apis/example.com");
  assert.equal(field(group.body, "preferredVersion", "version"), "v1");
  const listed = await send("GET", "/apis/example.com/v1");
  assert.deepEqual(field(listed.body, "resources", 0, "categories"), ["all"]);
  const free = { list: [{ type: "Other" }, { type: "Ready", status: "True" }] };
  const body = {
    metadata: { name: "one" },
    spec: { flavour: "lemon", toppings: ["nuts"], free },
  };
  assert.equal((await send("POST", ICES, body)).code, 201);
  const v1 = "/apis/example.com/v1/namespaces/default/ices";
  const other = await send("GET", `${v1}/one`);
  assert.equal(field(other.body, "apiVersion"), "example.com/v1");
  assert.equal(field(other.body, "spec", "flavour"), "lemon");
  const changed = await send("PATCH", `${v1}/one`, { spec: { scoops: 3 } });
  assert.equal(changed.code, 200);
  const back = await send("GET", `${ICES}/one`);
  assert.equal(field(back.body, "apiVersion"), "example.com/v1alpha1");
  assert.equal(field(back.body, "spec", "scoops"), 3);
  const table = await send("GET", v1, undefined, TABLE);
  assert.deepEqual(field(table.body, "rows", 0, "cells"), ["one", "lemon", 3, "nuts", "True"]);
  assert.deepEqual(field(table.body, "columnDefinitions", 3, "priority"), 1);
  const pods = await send("GET", "/api/v1");
  assert.ok(JSON.stringify(pods.body).includes('"categories":["all"]'));
});

test("a custom resource is scaled where its definition declares it, and nowhere else", async (t) => {
  const send = await open(t);
  const [first] = definition.spec.versions;
  const scale = { specReplicasPath: ".spec.scoops", statusReplicasPath: ".status.made" };
  const scaled = { ...first, subresources: { status: {}, scale } };
  const plain = { ...first, name: "v1", storage: false };
  const spec = { ...definition.spec, versions: [scaled, plain] };
  assert.equal((await send("POST", DEFINITIONS, { ...definition, spec })).code, 201);
  const listed = await send("GET", "/apis/example.com/v1alpha1");
  assert.match(JSON.stringify(listed.body), /"ices\/scale".*"group":"autoscaling"/);
  const body = { metadata: { name: "one" }, spec: { flavour: "lemon", scoops: 2 } };
  assert.equal((await send("POST", ICES, body)).code, 201);
  const path = `${ICES}/one/scale`;
  const read = await send("GET", path);
  assert.deepEqual(
    [field(read.body, "kind"), field(read.body, "spec"), field(read.body, "status")],
    ["Scale", { replicas: 2 }, { replicas: 0 }],
  );
  assert.equal((await send("PATCH", path, { spec: { replicas: 3 } })).code, 200);
  const metadata = field(read.body, "metadata");
  const more = { kind: "Scale", apiVersion: "autoscaling/v1", metadata, spec: { replicas: 5 } };
  assert.equal((await send("PUT", path, more)).code, 409);
  const negative = await send("PATCH", path, { spec: { replicas: -1 } });
  assert.equal(negative.code, 422);
  assert.match(
    String(field(negative.body, "message")),
    /^Ice\S* "one" is invalid: \.spec\.scoops: Invalid value: -1: should be a non-negative integer$/,
  );
  const stored = await send("GET", `${ICES}/one`);
  assert.deepEqual(
    [field(stored.body, "spec", "scoops"), field(stored.body, "spec", "flavour")],
    [3, "lemon"],
  );
  assert.equal(
    (await send("GET", "/apis/example.com/v1/namespaces/default/ices/one/scale")).code,
    404,
  );
});
