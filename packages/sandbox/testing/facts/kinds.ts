// What the API server answers for kinds other than Secrets, to other forms of the same objects, and
// to the options of a delete.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import type { Answer } from "../http.ts";
import { assertFailure, given, ok, test, version } from "./place.ts";
import type { Place } from "./place.ts";

const MERGE = "application/merge-patch+json";

function event(place: Place, rest: Readonly<Record<string, unknown>> = {}): object {
  return {
    metadata: { name: "e" },
    regarding: { kind: "Secret", name: "a", namespace: place.namespace },
    reason: "Copied",
    note: "copied to 3 namespaces",
    type: "Normal",
    action: "Copy",
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "example.com/tester",
    reportingInstance: "tester-0",
    ...rest,
  };
}

const newEvents = ({ namespace }: Place): string =>
  `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const coreEvents = ({ namespace }: Place): string => `/api/v1/namespaces/${namespace}/events`;

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

test("who asks for a right is told whether it is there, and nothing is stored", async ({
  http,
  namespace,
}) => {
  const resourceAttributes = { verb: "create", resource: "secrets", namespace };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  };
  const answer = ok(await http.send("POST", REVIEWS, { body }), 201);
  assert.equal(field(answer, "kind"), "SelfSubjectAccessReview");
  assert.equal(field(answer, "status", "allowed"), true);
  assert.deepEqual(field(answer, "spec", "resourceAttributes"), resourceAttributes);
  assert.equal(field(answer, "metadata", "uid"), undefined);
});

test("an Event of events.k8s.io is one of the core group too, under other names", async (place) => {
  const made = ok(await place.http.send("POST", newEvents(place), { body: event(place) }), 201);
  const core = ok(await place.http.send("GET", `${coreEvents(place)}/e`), 200);
  assert.equal(field(core, "involvedObject", "name"), "a");
  assert.equal(field(core, "message"), "copied to 3 namespaces");
  assert.equal(field(core, "reportingComponent"), "example.com/tester");
  assert.equal(field(core, "firstTimestamp"), null);
  assert.equal(version(core), version(made));
});

test("an Event of events.k8s.io says when, who and what kind", async (place) => {
  const body = event(place, { eventTime: undefined, type: "Other" });
  assertFailure(
    await place.http.send("POST", newEvents(place), { body }),
    "Invalid",
    'Event "e" is invalid: [eventTime: Required value, type: Invalid value: "": has invalid value: Other]',
  );
  const silent = event(place, { reportingController: undefined });
  assertFailure(
    await place.http.send("POST", newEvents(place), { body: silent }),
    "Invalid",
    /reportingController: Required value/,
  );
});

test("of an Event of events.k8s.io only the series changes", async (place) => {
  const path = `${newEvents(place)}/e`;
  ok(await place.http.send("POST", newEvents(place), { body: event(place) }), 201);
  const lastObservedTime = "2026-01-01T00:00:01.000000Z";
  const patched = (body: object): Promise<Answer> =>
    place.http.send("PATCH", path, { body, contentType: MERGE });
  ok(await patched({ series: { count: 2, lastObservedTime } }), 200);
  assertFailure(
    await patched({ note: "other" }),
    "Invalid",
    'Event "e" is invalid: message: Invalid value: "other": field is immutable',
  );
  assertFailure(
    await patched({ series: { count: 1, lastObservedTime } }),
    "Invalid",
    /series.count: Invalid value: "": should be at least 2/,
  );
});

test("Events are selected by the object they are about", async (place) => {
  ok(await place.http.send("POST", newEvents(place), { body: event(place) }), 201);
  const found = async (path: string): Promise<unknown> =>
    field(ok(await place.http.send("GET", path), 200), "items", "length");
  const terms = "involvedObject.name=a,involvedObject.kind=Secret,reason=Copied,type=Normal";
  assert.equal(await found(`${coreEvents(place)}?fieldSelector=${terms}`), 1);
  assert.equal(await found(`${coreEvents(place)}?fieldSelector=involvedObject.name=b`), 0);
  assert.equal(await found(`${newEvents(place)}?fieldSelector=regarding.name=a`), 1);
});

test("PUT creates a Lease", async ({ http, namespace }) => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const body = { metadata: { name: "l" }, spec: { holderIdentity: "me" } };
  const made = ok(await http.send("PUT", `${leases}/l`, { body }), 201);
  assert.equal(field(made, "spec", "holderIdentity"), "me");
});

test("a ConfigMap has each key once", async ({ http, namespace }) => {
  const body = { metadata: { name: "c" }, data: { a: "b" }, binaryData: { a: "dg==" } };
  assertFailure(
    await http.send("POST", `/api/v1/namespaces/${namespace}/configmaps`, { body }),
    "Invalid",
    'ConfigMap "c" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData',
  );
});

test("a namespace keeps the label with its name, and default cannot be deleted", async ({
  http,
  namespace,
}) => {
  const body = { metadata: { labels: { "kubernetes.io/metadata.name": null } } };
  const path = `/api/v1/namespaces/${namespace}`;
  const patched = ok(await http.send("PATCH", path, { body, contentType: MERGE }), 200);
  assert.equal(field(patched, "metadata", "labels", "kubernetes.io/metadata.name"), namespace);
  assertFailure(
    await http.send("DELETE", "/api/v1/namespaces/default"),
    "Forbidden",
    'namespaces "default" is forbidden: this namespace may not be deleted',
  );
});

test("a name whose object is still being deleted is AlreadyExists, and the message says so", async (place) => {
  await given(place, "a", {}, { finalizers: ["example.com/hold"] });
  ok(await place.http.send("DELETE", `${place.secrets}/a`), 200);
  const body = { metadata: { name: "a" } };
  assertFailure(
    await place.http.send("POST", place.secrets, { body }),
    "AlreadyExists",
    'object is being deleted: secrets "a" already exists',
  );
});

test("a list of metadata holds no data", async (place) => {
  await given(place, "a", { data: { k: "dg==" } });
  const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  const body = ok(await place.http.send("GET", place.secrets, { accept }), 200);
  assert.equal(field(body, "kind"), "PartialObjectMetadataList");
  assert.equal(field(body, "items", 0, "kind"), "PartialObjectMetadata");
  assert.equal(field(body, "items", 0, "metadata", "name"), "a");
  assert.equal(field(body, "items", 0, "data"), undefined);
});

test("a page of a selection offers a next one when anything at all follows", async (place) => {
  await given(place, "a", {}, { labels: { app: "x" } });
  await given(place, "b");
  const query = "limit=1&labelSelector=app%3Dx";
  const page = ok(await place.http.send("GET", `${place.secrets}?${query}`), 200);
  assert.equal(field(page, "metadata", "remainingItemCount"), undefined);
  const token = encodeURIComponent(String(field(page, "metadata", "continue")));
  const next = `${place.secrets}?${query}&continue=${token}`;
  const last = ok(await place.http.send("GET", next), 200);
  assert.deepEqual(field(last, "items"), []);
  assert.equal(field(last, "metadata", "continue"), undefined);
});

test("a dry run of a delete answers Success and deletes nothing", async (place) => {
  await given(place, "a");
  const path = `${place.secrets}/a`;
  const dry = ok(await place.http.send("DELETE", `${path}?dryRun=All`), 200);
  assert.equal(field(dry, "status"), "Success");
  ok(await place.http.send("GET", path), 200);
  ok(await place.http.send("DELETE", path, { body: { dryRun: ["All"] } }), 200);
  ok(await place.http.send("GET", path), 200);
});

test("with a body the parameters of a delete count for nothing", async (place) => {
  await given(place, "a");
  const path = `${place.secrets}/a`;
  ok(await place.http.send("DELETE", `${path}?dryRun=All`, { body: {} }), 200);
  assert.equal((await place.http.send("GET", path)).status, 404);
});

test("an unknown propagation policy is Invalid", async (place) => {
  await given(place, "a");
  const body = { propagationPolicy: "Sideways" };
  assertFailure(
    await place.http.send("DELETE", `${place.secrets}/a`, { body }),
    "Invalid",
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
});

test("a delete of a collection takes what is selected in one namespace", async (place) => {
  await given(place, "a", {}, { labels: { app: "x" } });
  await given(place, "b");
  const path = `${place.secrets}?labelSelector=app%3Dx`;
  const deleted = ok(await place.http.send("DELETE", path), 200);
  assert.equal(field(deleted, "kind"), "SecretList");
  assert.equal((await place.http.send("GET", `${place.secrets}/a`)).status, 404);
  ok(await place.http.send("GET", `${place.secrets}/b`), 200);
  assert.equal((await place.http.send("DELETE", "/api/v1/secrets")).status, 405);
});
