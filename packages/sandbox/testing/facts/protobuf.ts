// What the API server answers to bodies in protobuf, which every Go client sends.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import { protobuf, protobufBody } from "../protobuf-body.ts";
import { assertFailure, ok, test } from "./place.ts";

const contentType = "application/vnd.kubernetes.protobuf";
const SECONDS = 1_767_225_600;

test("an Event of events.k8s.io/v1 in protobuf is created with every field", async ({
  http,
  namespace,
}) => {
  const reference = protobuf([
    [1, "Secret"],
    [2, namespace],
    [3, "a"],
    [5, "v1"],
  ]);
  const body = protobufBody("events.k8s.io/v1", "Event", [
    [
      1,
      protobuf([
        [1, "a.1"],
        [3, namespace],
      ]),
    ],
    [
      2,
      protobuf([
        [1, SECONDS],
        [2, 5000],
      ]),
    ],
    [4, "example.com/recorder"],
    [5, "recorder-1"],
    [6, "Copy"],
    [7, "Copied"],
    [8, reference],
    [10, "copied to 2 namespaces"],
    [11, "Normal"],
    [15, 0],
  ]);
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const made = ok(await http.send("POST", path, { body, contentType }), 201);
  const shown = (name: string): unknown => field(made, name);
  assert.deepEqual(
    ["reportingController", "reportingInstance", "action", "reason", "note", "type"].map(shown),
    ["example.com/recorder", "recorder-1", "Copy", "Copied", "copied to 2 namespaces", "Normal"],
  );
  assert.equal(shown("eventTime"), "2026-01-01T00:00:00.000005Z");
  assert.equal(shown("deprecatedCount"), undefined);
  assert.deepEqual(shown("regarding"), {
    kind: "Secret",
    namespace,
    name: "a",
    apiVersion: "v1",
  });
});

test("a SelfSubjectAccessReview is answered in protobuf and in YAML", async ({
  http,
  namespace,
}) => {
  const attributes = protobuf([
    [1, namespace],
    [2, "create"],
    [5, "secrets"],
  ]);
  const body = protobufBody("authorization.k8s.io/v1", "SelfSubjectAccessReview", [
    [1, Buffer.alloc(0)],
    [2, protobuf([[1, attributes]])],
    [3, protobuf([[1, 0]])],
  ]);
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answered = ok(await http.send("POST", path, { body, contentType }), 201);
  assert.equal(field(answered, "status", "allowed"), true);
  assert.deepEqual(field(answered, "spec", "resourceAttributes"), {
    namespace,
    verb: "create",
    resource: "secrets",
  });
  const yaml = `spec: { resourceAttributes: { verb: list, resource: secrets } }`;
  const reported = await http.send("POST", path, {
    body: `apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\n${yaml}\n`,
    contentType: "application/yaml",
  });
  assert.equal(field(ok(reported, 201), "spec", "resourceAttributes", "verb"), "list");
});

test("a body of another kind than the resource's is refused in protobuf too", async ({
  http,
  secrets,
}) => {
  const body = protobufBody("events.k8s.io/v1", "Event", [[1, protobuf([[1, "a"]])]]);
  assertFailure(await http.send("POST", secrets, { body, contentType }), "BadRequest", /Secret/);
});
