// What the API server answers to creates, updates and deletes of Secrets.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import { assertFailure, given, ok, secret, test, uid, version } from "./place.ts";

const OTHER_UID = "11111111-1111-1111-1111-111111111111";
const MODIFIED =
  'Operation cannot be fulfilled on secrets "a": the object has been modified; please apply your changes to the latest version and try again';
const MERGE = { contentType: "application/merge-patch+json" };

test("POST gives the whole object with uid, version, time, type and managed fields", async (place) => {
  const body = await given(place, "a", { data: { k: "dg==" } });
  assert.match(uid(body), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.match(version(body), /^[1-9]\d*$/);
  assert.match(
    String(field(body, "metadata", "creationTimestamp")),
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  );
  assert.equal(field(body, "type"), "Opaque");
  assert.equal(field(body, "metadata", "namespace"), place.namespace);
  assert.ok(Array.isArray(field(body, "metadata", "managedFields")));
});

test("POST of a name that is there is AlreadyExists", async (place) => {
  await given(place, "a");
  assertFailure(
    await place.http.send("POST", place.secrets, { body: secret("a") }),
    "AlreadyExists",
    'secrets "a" already exists',
    { name: "a", kind: "secrets" },
  );
});

test("POST takes generateName, and needs a name or one", async ({ http, secrets }) => {
  const generated = await http.send("POST", secrets, {
    body: { metadata: { generateName: "gen-" } },
  });
  assert.match(String(field(ok(generated, 201), "metadata", "name")), /^gen-[a-z0-9]{5}$/);
  assertFailure(
    await http.send("POST", secrets, { body: { metadata: {} } }),
    "Invalid",
    'Secret "" is invalid: metadata.name: Required value: name or generateName is required',
  );
});

test("POST turns stringData into data", async (place) => {
  const body = await given(place, "a", { stringData: { k: "v" } });
  assert.deepEqual(field(body, "data"), { k: "dg==" });
  assert.equal(field(body, "stringData"), undefined);
});

test("a dry run answers as a create does and leaves nothing", async ({ http, secrets }) => {
  const dry = await http.send("POST", `${secrets}?dryRun=All`, { body: secret("dry") });
  assert.equal(field(ok(dry, 201), "metadata", "resourceVersion"), undefined);
  assert.equal((await http.send("GET", `${secrets}/dry`)).status, 404);
});

test("PUT and PATCH without a change keep the version", async (place) => {
  const made = await given(place, "a", { data: { k: "dg==" } });
  const path = `${place.secrets}/a`;
  const put = await place.http.send("PUT", path, { body: secret("a") });
  assert.equal(version(ok(put, 200)), version(made));
  const body = { data: { k: "dg==" } };
  const patch = await place.http.send("PATCH", path, { body, ...MERGE });
  assert.equal(version(ok(patch, 200)), version(made));
});

test("PUT and PATCH with an old version are a Conflict", async (place) => {
  await given(place, "a");
  const path = `${place.secrets}/a`;
  const expected = ["Conflict", MODIFIED, { name: "a", kind: "secrets" }] as const;
  const old = secret("a", { data: { k: "eA==" } }, { resourceVersion: "1" });
  assertFailure(await place.http.send("PUT", path, { body: old }), ...expected);
  const merge = { metadata: { resourceVersion: "1" }, data: { k: "eA==" } };
  assertFailure(await place.http.send("PATCH", path, { body: merge, ...MERGE }), ...expected);
});

test("a JSON patch replaces the version to guard itself; a failed test is only Invalid", async (place) => {
  await given(place, "a", { data: { k: "dg==" } });
  const patch = (op: string) =>
    place.http.send("PATCH", `${place.secrets}/a`, {
      contentType: "application/json-patch+json",
      body: [
        { op, path: "/metadata/resourceVersion", value: "1" },
        { op: "add", path: "/data/z", value: "eA==" },
      ],
    });
  assertFailure(await patch("replace"), "Conflict", MODIFIED);
  assertFailure(
    await patch("test"),
    "Invalid",
    "the server rejected our request due to an error in our request",
    {},
  );
});

test("PUT with another uid is a Conflict that names both", async (place) => {
  const made = await given(place, "a");
  const body = secret("a", {}, { uid: OTHER_UID });
  assertFailure(
    await place.http.send("PUT", `${place.secrets}/a`, { body }),
    "Conflict",
    new RegExp(
      `^Operation cannot be fulfilled on secrets "a": .*Precondition failed: UID in precondition: ${OTHER_UID}, UID in object meta: ${uid(made)}$`,
    ),
    { name: "a", kind: "secrets" },
  );
});

test("PUT and PATCH create nothing", async ({ http, secrets }) => {
  const details = { name: "nope", kind: "secrets" };
  const expected = ["NotFound", 'secrets "nope" not found', details] as const;
  assertFailure(await http.send("PUT", `${secrets}/nope`, { body: secret("nope") }), ...expected);
  assertFailure(await http.send("PATCH", `${secrets}/nope`, { body: {}, ...MERGE }), ...expected);
});

test("the name and namespace in the body are those of the URL", async (place) => {
  await given(place, "a");
  const named = await place.http.send("PUT", `${place.secrets}/a`, { body: secret("b") });
  assertFailure(
    named,
    "BadRequest",
    "the name of the object (b) does not match the name on the URL (a)",
  );
  const elsewhere = secret("c", {}, { namespace: "other" });
  assertFailure(
    await place.http.send("POST", place.secrets, { body: elsewhere }),
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  );
});

test("a patch of an unknown media type is refused", async (place) => {
  await given(place, "a");
  const body = { data: {} };
  assertFailure(
    await place.http.send("PATCH", `${place.secrets}/a`, { body }),
    "UnsupportedMediaType",
    "415: Unsupported Media Type",
  );
});

test("an unknown resource is NotFound, an unknown method MethodNotAllowed", async ({
  http,
  secrets,
}) => {
  assertFailure(
    await http.send("GET", "/api/v1/nope"),
    "NotFound",
    "the server could not find the requested resource",
  );
  assertFailure(
    await http.send("POST", `${secrets}/a`, { body: {} }),
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
  );
});
