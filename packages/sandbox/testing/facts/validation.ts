// What the API server refuses in a Secret, a Lease and an Event, and in which words.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import { assertFailure, causes, given, ok, secret, test } from "./place.ts";
import type { Place } from "./place.ts";

type Body = Readonly<Record<string, unknown>>;

/** A POST of the body is Invalid, with these causes. */
async function refused(
  place: Place,
  body: Body,
  message: string | RegExp,
  ...expectedCauses: readonly string[]
): Promise<void> {
  const answer = await place.http.send("POST", place.secrets, { body });
  const name = field(body, "metadata", "name");
  assertFailure(answer, "Invalid", message, { name, kind: "Secret" });
  assert.deepEqual(causes(answer), expectedCauses);
}

/** Bytes of zeroes as they stand in `data`. */
const zeroes = (bytes: number): string => Buffer.alloc(bytes).toString("base64");
const MEGABYTE = 1_048_576;

test("a name is an RFC 1123 subdomain", (place) =>
  refused(
    place,
    secret("B_d"),
    `Secret "B_d" is invalid: metadata.name: Invalid value: "B_d": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    "FieldValueInvalid metadata.name",
  ));

test("a name has at most 253 characters", async (place) => {
  await given(place, "a".repeat(253));
  const message = /metadata\.name: Invalid value: "a{254}": must be no more than 253 characters$/;
  await refused(place, secret("a".repeat(254)), message, "FieldValueInvalid metadata.name");
});

test("a data key is made of letters, digits, '-', '_' and '.'", (place) =>
  refused(
    place,
    secret("a", { data: { "a/b": "dg==" } }),
    `Secret "a" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
    "FieldValueInvalid data[a/b]",
  ));

test("data that is no base64 is a BadRequest", async ({ http, secrets }) =>
  assertFailure(
    await http.send("POST", secrets, { body: secret("a", { data: { a: "!!" } }) }),
    "BadRequest",
    'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
  ));

test("a body that is no JSON is a BadRequest", async ({ http, secrets }) =>
  assertFailure(
    await http.send("POST", secrets, { body: "{" }),
    "BadRequest",
    /^the object provided is unrecognized \(must be of type Secret\)/,
  ));

test("an unknown field is refused when validation is Strict", async ({ http, secrets }) => {
  const body = secret("a", { dat: {} });
  assertFailure(
    await http.send("POST", `${secrets}?fieldValidation=Strict`, { body }),
    "BadRequest",
    'Secret in version "v1" cannot be handled as a Secret: strict decoding error: unknown field "dat"',
  );
  ok(await http.send("POST", secrets, { body }), 201);
});

test("data of a mebibyte is taken, a byte more is not", async (place) => {
  await given(place, "full", { data: { k: zeroes(MEGABYTE) } });
  const message = 'Secret "over" is invalid: data: Too long: may not be more than 1048576 bytes';
  const body = secret("over", { data: { k: zeroes(MEGABYTE + 1) } });
  await refused(place, body, message, "FieldValueTooLong data");
});

test("annotations of 256 KiB are taken, a byte more is not", async (place) => {
  const annotations = (bytes: number): Body => ({ annotations: { k: "v".repeat(bytes - 1) } });
  await given(place, "full", {}, annotations(262_144));
  const message =
    'Secret "over" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes';
  const body = secret("over", {}, annotations(262_145));
  await refused(place, body, message, "FieldValueTooLong metadata.annotations");
});

test("kubernetes.io/tls needs its two keys", (place) =>
  refused(
    place,
    secret("a", { type: "kubernetes.io/tls" }),
    'Secret "a" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]',
    "FieldValueRequired data[tls.crt]",
    "FieldValueRequired data[tls.key]",
  ));

test("a dockerconfigjson that is no JSON is refused without its value", (place) =>
  refused(
    place,
    secret("a", {
      type: "kubernetes.io/dockerconfigjson",
      data: { ".dockerconfigjson": "dg==" },
    }),
    /^Secret "a" is invalid: data\[\.dockerconfigjson\]: Invalid value: "<secret contents redacted>": invalid character 'v'/,
    "FieldValueInvalid data[.dockerconfigjson]",
  ));

test("a service account token names its account", (place) =>
  refused(
    place,
    secret("a", { type: "kubernetes.io/service-account-token" }),
    'Secret "a" is invalid: metadata.annotations[kubernetes.io/service-account.name]: Required value',
    "FieldValueRequired metadata.annotations[kubernetes.io/service-account.name]",
  ));

test("the type of a Secret never changes", async (place) => {
  await given(place, "a", { data: { k: "dg==" } });
  const body = secret("a", { type: "example.com/other", data: { k: "dg==" } });
  assertFailure(
    await place.http.send("PUT", `${place.secrets}/a`, { body }),
    "Invalid",
    'Secret "a" is invalid: type: Invalid value: "example.com/other": field is immutable',
  );
});

test("an immutable Secret keeps its data and stays immutable, but takes labels", async (place) => {
  const path = `${place.secrets}/a`;
  const word = "Forbidden: field is immutable when `immutable` is set";
  const put = (rest: Body, metadata: Body = {}) =>
    place.http.send("PUT", path, { body: secret("a", rest, metadata) });
  await given(place, "a", { immutable: true, data: { k: "dg==" } });
  const says = (at: string): string => `Secret "a" is invalid: ${at}: ${word}`;
  assertFailure(await put({ immutable: true, data: { k: "eA==" } }), "Invalid", says("data"));
  assertFailure(await put({ data: { k: "dg==" } }), "Invalid", says("immutable"));
  const labelled = await put({ immutable: true, data: { k: "dg==" } }, { labels: { a: "b" } });
  assert.deepEqual(field(ok(labelled, 200), "metadata", "labels"), { a: "b" });
});

test("a Lease's renewTime has exactly six digits after the point", async ({ http, namespace }) => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const lease = (renewTime: string): Body => ({ metadata: { name: "l" }, spec: { renewTime } });
  const three = await http.send("POST", leases, { body: lease("2026-01-01T00:00:00.123Z") });
  assertFailure(
    three,
    "BadRequest",
    /^Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00\.123Z"/,
  );
  ok(await http.send("POST", leases, { body: lease("2026-01-01T00:00:00.123456Z") }), 201);
});

test("a Lease is updated only with its version", async ({ http, namespace }) => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const body = { metadata: { name: "l" }, spec: {} };
  ok(await http.send("POST", leases, { body }), 201);
  assertFailure(
    await http.send("PUT", `${leases}/l`, { body }),
    "Invalid",
    'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

test("an Event is in the namespace of its object", async ({ http, namespace }) => {
  const events = `/api/v1/namespaces/${namespace}/events`;
  const involvedObject = { kind: "Secret", namespace: "b", name: "x" };
  const body = { metadata: { name: "e" }, involvedObject };
  assertFailure(
    await http.send("POST", events, { body }),
    "Invalid",
    'Event "e" is invalid: involvedObject.namespace: Invalid value: "b": does not match event.namespace',
  );
});
