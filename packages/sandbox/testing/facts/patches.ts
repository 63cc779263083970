// What the API server answers to patches and to server-side apply.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import type { Answer } from "../http.ts";
import { assertFailure, causes, given, ok, secret, test, version } from "./place.ts";
import type { Place } from "./place.ts";

const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

function patch(place: Place, type: keyof typeof TYPES, body: unknown, query = ""): Promise<Answer> {
  return place.http.send("PATCH", `${place.secrets}/a${query}`, { body, contentType: TYPES[type] });
}

const UNEXPLAINED = "the server rejected our request due to an error in our request";

test("a merge patch takes away what is null", async (place) => {
  await given(place, "a", { data: { k: "dg==", l: "dg==" } }, { labels: { app: "x" } });
  const body = { data: { k: null, m: "eA==" }, metadata: { labels: null } };
  const patched = ok(await patch(place, "merge", body), 200);
  assert.deepEqual(field(patched, "data"), { l: "dg==", m: "eA==" });
  assert.equal(field(patched, "metadata", "labels"), undefined);
});

test("a JSON patch cannot remove what is not there, nor add below it, but replace it", async (place) => {
  await given(place, "a", { data: { k: "dg==" } });
  const one = (op: string, path: string): Promise<Answer> =>
    patch(place, "json", [{ op, path, ...(op === "remove" ? {} : { value: "eA==" }) }]);
  assertFailure(await one("remove", "/data/none"), "Invalid", UNEXPLAINED);
  assertFailure(await one("add", "/metadata/labels/app"), "Invalid", UNEXPLAINED);
  const replaced = ok(await one("replace", "/data/none"), 200);
  assert.deepEqual(field(replaced, "data"), { k: "dg==", none: "eA==" });
  const removed = ok(await one("remove", "/data/none"), 200);
  assert.deepEqual(field(removed, "data"), { k: "dg==" });
});

test("a JSON patch that replaces the version by an old one is a conflict; the present one passes", async (place) => {
  const old = await given(place, "a", { data: { k: "dg==", l: "dg==" } });
  const of = (object: unknown, uid = field(object, "metadata", "uid")): readonly object[] => [
    { op: "replace", path: "/metadata/uid", value: uid },
    { op: "replace", path: "/metadata/resourceVersion", value: version(object) },
    { op: "add", path: "/metadata/annotations", value: {} },
    { op: "add", path: "/metadata/annotations/example.com~1a", value: "" },
    { op: "remove", path: "/metadata/annotations/example.com~1a" },
    { op: "add", path: "/data", value: { m: "eA==" } },
  ];
  const patched = ok(await patch(place, "json", of(old)), 200);
  assert.deepEqual(field(patched, "data"), { m: "eA==" });
  assert.equal(field(patched, "metadata", "annotations"), undefined);
  const late = await patch(place, "json", of(old));
  assert.deepEqual([late.status, field(late.body, "reason")], [409, "Conflict"]);
  const another = await patch(place, "json", of(old, "b"));
  assert.deepEqual([another.status, field(another.body, "reason")], [409, "Conflict"]);
});

test("a strategic merge patch adds to the finalizers and takes single ones away", async (place) => {
  await given(place, "a", {}, { finalizers: ["example.com/a"] });
  const add = { metadata: { finalizers: ["example.com/b"] } };
  const added = ok(await patch(place, "strategic", add), 200);
  const both = field(added, "metadata", "finalizers");
  assert.ok(Array.isArray(both));
  assert.deepEqual(new Set(both), new Set(["example.com/a", "example.com/b"]));
  const gone = ["example.com/a", "example.com/b"];
  const remove = { metadata: { "$deleteFromPrimitiveList/finalizers": gone } };
  const removed = ok(await patch(place, "strategic", remove), 200);
  assert.equal(field(removed, "metadata", "finalizers"), undefined);
});

test("a patch cannot change name, uid or type", async (place) => {
  await given(place, "a");
  assertFailure(
    await patch(place, "merge", { metadata: { name: "b" } }),
    "BadRequest",
    "the name of the object (b) does not match the name on the URL (a)",
  );
  assertFailure(
    await patch(place, "merge", { metadata: { uid: "b" } }),
    "Invalid",
    'Secret "a" is invalid: metadata.uid: Invalid value: "b": field is immutable',
  );
  assertFailure(
    await patch(place, "merge", { type: "b" }),
    "Invalid",
    'Secret "a" is invalid: type: Invalid value: "b": field is immutable',
  );
});

test("a patch that is no patch is a BadRequest", async (place) => {
  await given(place, "a");
  const refused = async (type: keyof typeof TYPES, body: unknown, message: string | RegExp) =>
    assertFailure(await patch(place, type, body, "?fieldManager=facts"), "BadRequest", message);
  // Since 1.37 it is judged before it is decoded.
  await refused("merge", "{", /^(error decoding patch: unexpected end of|invalid) JSON /);
  await refused(
    "merge",
    [],
    "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  );
  await refused("strategic", "{", /^(unexpected end of|invalid) JSON /);
  await refused("json", "", /^(error decoding patch: unexpected end of|invalid) JSON /);
  await refused(
    "apply",
    "a: [b",
    /^error (decoding YAML: error converting YAML to JSON|encoding patch): /,
  );
  await refused(
    "json",
    {},
    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  );
});

test("a patch that breaks its object is Invalid, and the message repeats the object's data", async (place) => {
  await given(place, "a", { data: { k: "aGlkZGVu" } });
  const merged = await patch(place, "merge", { data: { x: "%" } });
  assertFailure(
    merged,
    "Invalid",
    /^ "" is invalid: patch: Invalid value: .*aGlkZGVu.*: illegal base64 data at input/,
  );
  assert.deepEqual(causes(merged), ["FieldValueInvalid patch"]);
  assertFailure(
    await patch(place, "strategic", { data: { x: "%" } }),
    "Invalid",
    ' "" is invalid: patch: Invalid value: "map[data:map[x:%]]": error decoding from json: illegal base64 data at input byte 0',
  );
});

test("an unknown field in a patch is a warning, or refused when validation is Strict", async (place) => {
  await given(place, "a");
  const warned = await patch(place, "merge", { foo: 1 }, "?fieldValidation=Warn");
  ok(warned, 200);
  assert.equal(warned.headers["warning"], '299 - "unknown field \\"foo\\""');
  assertFailure(
    await patch(place, "merge", { foo: 1 }, "?fieldValidation=Strict"),
    "Invalid",
    /: strict decoding error: unknown field "foo"$/,
  );
});

const wanted = (data: Readonly<Record<string, string>>, labels?: object): unknown =>
  secret("a", { data }, labels ? { labels } : {});

const apply = (place: Place, manager: string, body: unknown, force = false): Promise<Answer> =>
  patch(place, "apply", body, `?fieldManager=${manager}${force ? "&force=true" : ""}`);

test("apply needs a field manager and a kind", async (place) => {
  assertFailure(
    await patch(place, "apply", wanted({})),
    "Invalid",
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  );
  assertFailure(
    await apply(place, "one", { metadata: { name: "a" } }),
    "BadRequest",
    "invalid object type: /, Kind=",
  );
});

test("apply creates, from YAML as well, and the same again keeps the version", async (place) => {
  const yaml = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: dg==}\n";
  const made = ok(await apply(place, "one", yaml), 201);
  const fields = field(made, "metadata", "managedFields", 0, "fieldsV1");
  assert.deepEqual(fields, { "f:data": { "f:k": {} } });
  const again = ok(await apply(place, "one", wanted({ k: "dg==" })), 200);
  assert.equal(version(again), version(made));
});

test("apply does not take another manager's field unless forced", async (place) => {
  ok(await apply(place, "one", wanted({ k: "dg==" })), 201);
  const contested = await apply(place, "two", wanted({ k: "eA==" }));
  assertFailure(
    contested,
    "Conflict",
    'Apply failed with 1 conflict: conflict with "one": .data.k',
  );
  assert.deepEqual(causes(contested), ["FieldManagerConflict .data.k"]);
  const forced = ok(await apply(place, "two", wanted({ k: "eA==" }), true), 200);
  assert.deepEqual(field(forced, "data"), { k: "eA==" });
  const managers = field(forced, "metadata", "managedFields");
  assert.ok(Array.isArray(managers));
  assert.deepEqual(
    managers.map((entry) => String(field(entry, "manager"))),
    ["two"],
  );
});

test("two managers that apply one key of stringData conflict, whatever its value", async (place) => {
  const stringData = (value: string) => secret("a", { stringData: { k: value } });
  ok(await apply(place, "one", stringData("v")), 201);
  ok(await apply(place, "one", stringData("w")), 200);
  const contested = await apply(place, "two", stringData("x"));
  assertFailure(
    contested,
    "Conflict",
    'Apply failed with 1 conflict: conflict with "one": .stringData.k',
  );
  const forced = ok(await apply(place, "two", stringData("x"), true), 200);
  assert.deepEqual(field(forced, "data"), { k: "eA==" });
});

test("what a manager leaves out goes, unless somebody else applied it too", async (place) => {
  ok(await apply(place, "one", wanted({ k: "dg==", l: "dg==" }, { app: "x" })), 201);
  ok(await apply(place, "two", wanted({ l: "dg==" })), 200);
  const left = ok(await apply(place, "one", wanted({})), 200);
  assert.deepEqual(field(left, "data"), { l: "dg==" });
  assert.equal(field(left, "metadata", "labels"), undefined);
});

test("an update takes over the fields it changes", async (place) => {
  ok(await apply(place, "one", wanted({ k: "dg==" })), 201);
  ok(await patch(place, "merge", { data: { k: "eA==" } }, "?fieldManager=editor"), 200);
  assertFailure(
    await apply(place, "one", wanted({ k: "dg==" })),
    "Conflict",
    /^Apply failed with 1 conflict: conflict with "editor" using v1( at [^ ]+)?: \.data\.k$/,
  );
});
