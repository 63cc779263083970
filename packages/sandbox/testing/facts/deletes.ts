// What the API server answers to deletes, with preconditions, finalizers and of whole namespaces.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import type { Answer } from "../http.ts";
import { assertFailure, causes, given, ok, secret, test, uid, version } from "./place.ts";
import type { Place } from "./place.ts";

const OTHER_UID = "11111111-1111-1111-1111-111111111111";

function remove(place: Place, name: string, preconditions: object): Promise<Answer> {
  return place.http.send("DELETE", `${place.secrets}/${name}`, { body: { preconditions } });
}

test("DELETE with the right uid and version answers Success and names the uid", async (place) => {
  const made = await given(place, "a");
  const preconditions = { uid: uid(made), resourceVersion: version(made) };
  const body = ok(await remove(place, "a", preconditions), 200);
  assert.equal(field(body, "kind"), "Status");
  assert.equal(field(body, "status"), "Success");
  assert.deepEqual(field(body, "details"), { name: "a", kind: "secrets", uid: uid(made) });
});

test("DELETE with a wrong uid is a Conflict on the kind, not the resource", async (place) => {
  const made = await given(place, "a");
  assertFailure(
    await remove(place, "a", { uid: OTHER_UID }),
    "Conflict",
    `Operation cannot be fulfilled on Secret "a": the UID in the precondition (${OTHER_UID}) does not match the UID in record (${uid(made)}). The object might have been deleted and then recreated`,
    { name: "a", kind: "Secret" },
  );
});

test("DELETE with an old version is a Conflict", async (place) => {
  const made = await given(place, "a");
  assertFailure(
    await remove(place, "a", { resourceVersion: "1" }),
    "Conflict",
    `Operation cannot be fulfilled on Secret "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${version(made)}). The object might have been modified`,
    { name: "a", kind: "Secret" },
  );
});

test("DELETE of nothing is NotFound", async (place) => {
  assertFailure(await remove(place, "none", {}), "NotFound", 'secrets "none" not found', {
    name: "none",
    kind: "secrets",
  });
});

test("DELETE of an object with finalizers marks it, once, and it goes with the last of them", async (place) => {
  const made = await given(place, "a", {}, { finalizers: ["example.com/hold"] });
  const marked = ok(await remove(place, "a", {}), 200);
  assert.equal(typeof field(marked, "metadata", "deletionTimestamp"), "string");
  assert.notEqual(version(marked), version(made));
  assert.equal(version(ok(await remove(place, "a", {}), 200)), version(marked));
  const path = `${place.secrets}/a`;
  const body = { metadata: { finalizers: null } };
  const contentType = "application/merge-patch+json";
  ok(await place.http.send("PATCH", path, { body, contentType }), 200);
  assert.equal((await place.http.send("GET", path)).status, 404);
});

test("POST into a namespace that is not there is NotFound of the namespace", async ({ http }) => {
  const body = secret("a");
  assertFailure(
    await http.send("POST", "/api/v1/namespaces/none/secrets", { body }),
    "NotFound",
    'namespaces "none" not found',
    { name: "none", kind: "namespaces" },
  );
});

test("every namespace has its name as a label and the finalizer kubernetes", async ({
  http,
  namespace,
}) => {
  const body = ok(await http.send("GET", `/api/v1/namespaces/${namespace}`), 200);
  assert.equal(field(body, "metadata", "labels", "kubernetes.io/metadata.name"), namespace);
  assert.deepEqual(field(body, "spec", "finalizers"), ["kubernetes"]);
  assert.equal(field(body, "status", "phase"), "Active");
});

test("a namespace that is being deleted is Terminating and takes nothing new", async (place) => {
  const { http, namespace, secrets } = place;
  // Its finalizer keeps the namespace in that state.
  await given(place, "held", {}, { finalizers: ["example.com/hold"] });
  const deleted = ok(await http.send("DELETE", `/api/v1/namespaces/${namespace}`), 200);
  assert.equal(field(deleted, "status", "phase"), "Terminating");
  assert.equal(typeof field(deleted, "metadata", "deletionTimestamp"), "string");
  const late = await http.send("POST", secrets, { body: secret("late") });
  assertFailure(
    late,
    "Forbidden",
    `secrets "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    { name: "late", kind: "secrets" },
  );
  assert.deepEqual(causes(late), ["NamespaceTerminating metadata.namespace"]);
});

test("a deleted namespace goes once it is empty", async (place) => {
  const { http, namespace } = place;
  await given(place, "a");
  ok(await http.send("DELETE", `/api/v1/namespaces/${namespace}`), 200);
  const watch = `/api/v1/namespaces?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3D${namespace}`;
  for await (const event of http.lines(watch)) if (field(event, "type") === "DELETED") break;
  assert.equal((await http.send("GET", `/api/v1/namespaces/${namespace}`)).status, 404);
  assert.equal((await http.send("GET", `${place.secrets}/a`)).status, 404);
});
