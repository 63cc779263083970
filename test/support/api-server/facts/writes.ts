// What the API server answers to creates, updates and deletes of Secrets.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import { assertFailure, given, ok, secret, uid, version } from "./place.ts";
import type { Fact } from "./place.ts";

const OTHER_UID = "11111111-1111-1111-1111-111111111111";
const MODIFIED =
  'Operation cannot be fulfilled on secrets "a": the object has been modified; please apply your changes to the latest version and try again';
const MERGE = { contentType: "application/merge-patch+json" };

export const WRITE_FACTS: readonly Fact[] = [
  {
    name: "POST gives the whole object with uid, version, time, type and managed fields",
    check: async (place) => {
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
    },
  },
  {
    name: "POST of a name that is there is AlreadyExists",
    check: async (place) => {
      await given(place, "a");
      assertFailure(await place.http.send("POST", place.secrets, { body: secret("a") }), {
        code: 409,
        reason: "AlreadyExists",
        message: 'secrets "a" already exists',
        details: { name: "a", kind: "secrets" },
      });
    },
  },
  {
    name: "POST takes generateName, and needs a name or one",
    check: async ({ http, secrets }) => {
      const generated = await http.send("POST", secrets, {
        body: { metadata: { generateName: "gen-" } },
      });
      assert.match(String(field(ok(generated, 201), "metadata", "name")), /^gen-[a-z0-9]{5}$/);
      assertFailure(await http.send("POST", secrets, { body: { metadata: {} } }), {
        code: 422,
        reason: "Invalid",
        message:
          'Secret "" is invalid: metadata.name: Required value: name or generateName is required',
      });
    },
  },
  {
    name: "POST turns stringData into data",
    check: async (place) => {
      const body = await given(place, "a", { stringData: { k: "v" } });
      assert.deepEqual(field(body, "data"), { k: "dg==" });
      assert.equal(field(body, "stringData"), undefined);
    },
  },
  {
    name: "a dry run answers as a create does and leaves nothing",
    check: async ({ http, secrets }) => {
      const dry = await http.send("POST", `${secrets}?dryRun=All`, { body: secret("dry") });
      assert.equal(field(ok(dry, 201), "metadata", "resourceVersion"), undefined);
      assert.equal((await http.send("GET", `${secrets}/dry`)).status, 404);
    },
  },
  {
    name: "PUT and PATCH without a change keep the version",
    check: async (place) => {
      const made = await given(place, "a", { data: { k: "dg==" } });
      const path = `${place.secrets}/a`;
      const put = await place.http.send("PUT", path, { body: secret("a") });
      assert.equal(version(ok(put, 200)), version(made));
      const body = { data: { k: "dg==" } };
      const patch = await place.http.send("PATCH", path, { body, ...MERGE });
      assert.equal(version(ok(patch, 200)), version(made));
    },
  },
  {
    name: "PUT and PATCH with an old version are a Conflict",
    check: async (place) => {
      await given(place, "a");
      const path = `${place.secrets}/a`;
      const expected = {
        code: 409,
        reason: "Conflict",
        message: MODIFIED,
        details: { name: "a", kind: "secrets" },
      };
      const old = secret("a", { data: { k: "eA==" } }, { resourceVersion: "1" });
      assertFailure(await place.http.send("PUT", path, { body: old }), expected);
      const merge = { metadata: { resourceVersion: "1" }, data: { k: "eA==" } };
      assertFailure(await place.http.send("PATCH", path, { body: merge, ...MERGE }), expected);
    },
  },
  {
    name: "a JSON patch replaces the version to guard itself; a failed test is only Invalid",
    check: async (place) => {
      await given(place, "a", { data: { k: "dg==" } });
      const patch = (op: string) =>
        place.http.send("PATCH", `${place.secrets}/a`, {
          contentType: "application/json-patch+json",
          body: [
            { op, path: "/metadata/resourceVersion", value: "1" },
            { op: "add", path: "/data/z", value: "eA==" },
          ],
        });
      assertFailure(await patch("replace"), { code: 409, reason: "Conflict", message: MODIFIED });
      assertFailure(await patch("test"), {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request",
        details: {},
      });
    },
  },
  {
    name: "PUT with another uid is a Conflict that names both",
    check: async (place) => {
      const made = await given(place, "a");
      const body = secret("a", {}, { uid: OTHER_UID });
      assertFailure(await place.http.send("PUT", `${place.secrets}/a`, { body }), {
        code: 409,
        reason: "Conflict",
        message: new RegExp(
          `^Operation cannot be fulfilled on secrets "a": .*Precondition failed: UID in precondition: ${OTHER_UID}, UID in object meta: ${uid(made)}$`,
        ),
        details: { name: "a", kind: "secrets" },
      });
    },
  },
  {
    name: "PUT and PATCH create nothing",
    check: async ({ http, secrets }) => {
      const expected = {
        code: 404,
        reason: "NotFound",
        message: 'secrets "nope" not found',
        details: { name: "nope", kind: "secrets" },
      };
      assertFailure(await http.send("PUT", `${secrets}/nope`, { body: secret("nope") }), expected);
      assertFailure(await http.send("PATCH", `${secrets}/nope`, { body: {}, ...MERGE }), expected);
    },
  },
  {
    name: "the name and namespace in the body are those of the URL",
    check: async (place) => {
      await given(place, "a");
      const named = await place.http.send("PUT", `${place.secrets}/a`, { body: secret("b") });
      assertFailure(named, {
        code: 400,
        reason: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
      const elsewhere = secret("c", {}, { namespace: "other" });
      assertFailure(await place.http.send("POST", place.secrets, { body: elsewhere }), {
        code: 400,
        reason: "BadRequest",
        message:
          "the namespace of the provided object does not match the namespace sent on the request",
      });
    },
  },
  {
    name: "a patch of an unknown media type is refused",
    check: async (place) => {
      await given(place, "a");
      const body = { data: {} };
      assertFailure(await place.http.send("PATCH", `${place.secrets}/a`, { body }), {
        code: 415,
        reason: "UnsupportedMediaType",
        message: "415: Unsupported Media Type",
      });
    },
  },
  {
    name: "an unknown resource is NotFound, an unknown method MethodNotAllowed",
    check: async ({ http, secrets }) => {
      assertFailure(await http.send("GET", "/api/v1/nope"), {
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource",
      });
      assertFailure(await http.send("POST", `${secrets}/a`, { body: {} }), {
        code: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource",
      });
    },
  },
];
