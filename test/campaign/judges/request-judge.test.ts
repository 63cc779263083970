// The watcher of hostile runs can see: a write that is not allowed is told, one that is is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Violations } from "./violations.ts";
import { standingOf, type Standing } from "./versions.ts";
import { WriteJudge } from "./request-judge.ts";

const COPY = {
  namespace: "tenant",
  name: "registry",
  labels: { "app.kubernetes.io/managed-by": "secretcast" },
  annotations: {
    "secretcast.io/source": "secretcast/registry",
    "secretcast.io/source-uid": "u",
    "secretcast.io/placed-at": "tenant/registry",
  },
};
const marked = (more: Readonly<Record<string, string>>) => ({
  ...COPY,
  annotations: { ...COPY.annotations, ...more },
});

test("a Secret is the controller's by all its marks alone", () => {
  assert.equal(standingOf(COPY), "ours");
  assert.equal(standingOf({ ...COPY, labels: {} }), "stranger");
  assert.equal(standingOf({ ...COPY, name: "other" }), "stranger");
  assert.equal(standingOf(marked({ "secretcast.io/source": "registry" })), "stranger");
  assert.equal(standingOf(marked({ "secretcast.io/source-uid": "" })), "stranger");
  assert.equal(standingOf(marked({ "secretcast.io/from": "a/b" })), "pulling");
  assert.equal(standingOf(marked({ "secretcast.io/unheard-of": "x" })), "frozen");
  const offer = { namespace: "a", name: "b", annotations: { "secretcast.io/adopt": "c/d" } };
  assert.equal(standingOf(offer), "offered");
  assert.equal(standingOf({ namespace: "a", name: "b" }), "stranger");
});

const PATH = "/api/v1/namespaces/tenant/secrets/registry";

/** What is told of one write, of a version with this standing. */
function judged(standing: Standing, method: string, body: unknown, path = PATH): readonly string[] {
  const violations = new Violations(() => undefined);
  const judge = new WriteJudge({ standing: () => standing }, violations);
  const query = new URLSearchParams();
  judge.take({ method, path, query, body: JSON.stringify(body), status: 200 });
  judge.round();
  return violations.lines;
}

const VERSION = { uid: "u", resourceVersion: "7" };
const JSON_PATCH = [
  { op: "replace", path: "/metadata/uid", value: "u" },
  { op: "replace", path: "/metadata/resourceVersion", value: "7" },
  { op: "add", path: "/data", value: {} },
];

test("a patch of a copy, of a pulling Secret and of an offer goes through", () => {
  for (const body of [{ metadata: VERSION }, JSON_PATCH])
    for (const standing of ["ours", "pulling", "offered"] as const)
      assert.deepEqual(judged(standing, "PATCH", body), []);
});

test("a patch of a stranger and of a frozen copy is told", () => {
  for (const standing of ["stranger", "frozen"] as const)
    assert.match(judged(standing, "PATCH", JSON_PATCH).join(), /PATCH of what is not.*registry/);
});

test("a patch that names no version is told", () => {
  for (const body of [{ data: {} }, [{ op: "add", path: "/data", value: {} }]])
    assert.match(judged("ours", "PATCH", body).join(), /names no resourceVersion/);
});

test("a delete is of a copy, and names UID and version", () => {
  const options = { preconditions: VERSION };
  assert.deepEqual(judged("ours", "DELETE", options), []);
  for (const standing of ["stranger", "frozen", "pulling", "offered"] as const)
    assert.match(judged(standing, "DELETE", options).join(), /DELETE of what is not/);
  assert.match(judged("ours", "DELETE", {}).join(), /names no resourceVersion.*names no UID/s);
});

test("whatever is made is a copy in its place", () => {
  const path = "/api/v1/namespaces/tenant/secrets";
  assert.deepEqual(judged("ours", "POST", { metadata: COPY }, path), []);
  const { name } = COPY;
  assert.match(judged("ours", "POST", { metadata: { name } }, path).join(), /that is no copy/);
});
