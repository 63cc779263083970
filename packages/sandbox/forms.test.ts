// Pure pieces of the sandbox: patches, protobuf bodies, selectors, ages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readBody } from "./http/body.ts";
import { prepareSecret } from "./kinds/secrets.ts";
import { labelSelector } from "./kinds/selector-syntax.ts";
import { negotiate, wantsAggregatedDiscovery } from "./http/negotiation.ts";
import { jsonPatch, mergePatch, strategicMerge } from "./verbs/patch-formats.ts";
import { readProtobuf } from "./http/protobuf.ts";
import { StatusError } from "./storage/status.ts";
import { protobuf, protobufBody } from "./testing/protobuf-body.ts";
import { duration } from "./http/table.ts";

test("a YAML body means the same as its JSON, unknown fields included", async () => {
  const yaml = `
apiVersion: v1
kind: Secret
metadata: { name: a, creationTimestamp: 2026-01-01T00:00:00Z, labels: { on: yes } }
bogus: 1
`;
  const json = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z", labels: { on: "yes" } },
    bogus: 1,
  };
  const read = (text: string): Promise<unknown> =>
    readBody(Buffer.from(text), "application/yaml", (why) => new Error(why));
  assert.deepEqual(await read(yaml), json);
  assert.deepEqual(await read(JSON.stringify(json)), json);
  await assert.rejects(read("a: [b"), StatusError);
});

test("a JSON patch does its operations in order", () => {
  const patched = jsonPatch({ a: { "b/c": 1 }, list: [1, 2, 3] }, [
    { op: "test", path: "/a/b~1c", value: 1 },
    { op: "add", path: "/list/-", value: 4 },
    { op: "remove", path: "/list/0" },
    { op: "copy", from: "/list", path: "/a/copy" },
    { op: "move", from: "/a/b~1c", path: "/moved" },
    { op: "replace", path: "/list/0", value: "two" },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(patched)), {
    a: { copy: [2, 3, 4] },
    list: ["two", 3, 4],
    moved: 1,
  });
});

test("a JSON patch that cannot be done changes nothing and is Invalid", () => {
  const document = { a: 1 };
  for (const operation of [
    { op: "test", path: "/a", value: 2 },
    { op: "remove", path: "/b" },
    { op: "add", path: "/b/c", value: 1 },
    { op: "jump", path: "/a" },
    { op: "add", path: "a", value: 1 },
  ])
    assert.throws(
      () => jsonPatch(document, [operation]),
      (error) => error instanceof StatusError && error.code === 422,
    );
  assert.deepEqual(document, { a: 1 });
});

test("keys that are called as an object's methods are compared as all others", () => {
  const data = { toString: "a", valueOf: "b", constructor: "c" };
  const tests = (value: object) => () =>
    jsonPatch({ data }, [{ op: "test", path: "/data", value: { ...data, ...value } }]);
  assert.doesNotThrow(tests({}));
  assert.throws(tests({ toString: "b" }), StatusError);
});

test("a member called __proto__ is added by every kind of patch and by stringData", () => {
  const patch = JSON.parse('{"data":{"__proto__":"a"}}');
  const patched = {
    json: jsonPatch({ data: {} }, [{ op: "add", path: "/data/__proto__", value: "a" }]),
    merge: mergePatch({ data: {} }, patch),
    strategic: strategicMerge({ data: {} }, patch),
  };
  for (const [how, object] of Object.entries(patched))
    assert.equal(JSON.stringify(object), '{"data":{"__proto__":"a"}}', how);
  const metadata = { name: "a", uid: "", resourceVersion: "", creationTimestamp: "" };
  const stringData = JSON.parse('{"__proto__":"a"}');
  const { data } = prepareSecret({ apiVersion: "v1", kind: "Secret", metadata, stringData });
  assert.equal(JSON.stringify(data), '{"__proto__":"YQ=="}');
});

test("a merge patch replaces lists and takes away what is null", () => {
  const merged = mergePatch({ a: [1], b: { c: 1, d: 2 } }, { a: [2], b: { c: null }, e: "f" });
  assert.deepEqual(merged, { a: [2], b: { d: 2 }, e: "f" });
});

test("a strategic merge patch knows replace, delete and lists with keys", () => {
  const before = { data: { a: "1" }, secrets: [{ name: "x", kind: "k" }, { name: "y" }] };
  assert.deepEqual(strategicMerge(before, { data: { $patch: "replace", b: "2" } }), {
    data: { b: "2" },
    secrets: before.secrets,
  });
  const secrets = [
    { name: "x", uid: "u" },
    { name: "y", $patch: "delete" },
  ];
  assert.deepEqual(strategicMerge(before, { secrets }), {
    data: { a: "1" },
    secrets: [{ name: "x", kind: "k", uid: "u" }],
  });
});

test("a Secret in protobuf is the Secret in JSON", () => {
  const entry = (key: string, value: string): Buffer =>
    protobuf([
      [1, key],
      [2, value],
    ]);
  const metadata = protobuf([
    [1, "a"],
    [3, ""],
    [11, entry("app", "x")],
  ]);
  const body = protobufBody("v1", "Secret", [
    [1, metadata],
    [2, entry("k", "v")],
    [2, entry("l", "w")],
    [3, "Opaque"],
    [5, 1],
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(readProtobuf(body))), {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a", labels: { app: "x" } },
    data: { k: "dg==", l: "dw==" },
    type: "Opaque",
    immutable: true,
  });
  assert.throws(() => readProtobuf(body.subarray(0, -3)), StatusError);
});

test("label selectors match what the grammar says", () => {
  const selects = (text: string, labels: Readonly<Record<string, string>>): boolean =>
    labelSelector(text)?.(labels) ?? true;
  assert.equal(selects("", {}), true);
  assert.equal(selects("a in (in, notin),!b", { a: "in" }), true);
  assert.equal(selects("a in (,x)", { a: "" }), true);
  assert.equal(selects("a notin (x)", {}), true);
  assert.equal(selects("a=", { a: "" }), true);
  assert.equal(selects("a>5,a<7", { a: "6" }), true);
  assert.equal(selects("a>5", { a: "five" }), false);
  assert.equal(selects("constructor", {}), false);
  assert.equal(selects("example.com/a==x", { "example.com/a": "x" }), true);
  for (const bad of ["a,", ",a", "a in x", "a b", "!", "-a", "a=-x-", "a>x"])
    assert.throws(() => labelSelector(bad), StatusError, bad);
});

test("ages have two units as long as both say something", () => {
  const ages: readonly (readonly [number, string])[] = [
    [0, "0s"],
    [119, "119s"],
    [125, "2m5s"],
    [600, "10m"],
    [3 * 3600 + 60, "3h1m"],
    [30 * 3600, "30h"],
    [50 * 3600, "2d2h"],
    [100 * 86_400, "100d"],
    [1000 * 86_400, "2y270d"],
  ];
  for (const [seconds, text] of ages) assert.equal(duration(seconds * 1000), text);
});

test("the first form that a client takes and the server has is the one", () => {
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  assert.equal(negotiate(undefined), "object");
  assert.equal(negotiate(`application/vnd.kubernetes.protobuf,${table},application/json`), "table");
  assert.equal(negotiate(`application/json, ${table}`), "object");
  assert.throws(() => negotiate("text/html"), StatusError);
  const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  assert.equal(wantsAggregatedDiscovery(`${aggregated},application/json`), true);
  assert.equal(wantsAggregatedDiscovery("application/json"), false);
});
