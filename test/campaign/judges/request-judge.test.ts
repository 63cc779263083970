// The judge of requests can see: a write that is not allowed is reported, one that is is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Raw } from "../model/raw.ts";
import { AskedJudge } from "./asked-judge.ts";
import { RequestJudge } from "./request-judge.ts";
import { Violations } from "./violations.ts";

const METADATA = { namespace: "tenant", name: "registry", uid: "u", resourceVersion: "7" };
const MARKS = {
  "secretcast.io/source": "secretcast/registry",
  "secretcast.io/source-uid": "u",
  "secretcast.io/placed-at": "tenant/registry",
};
const copy = (annotations: Readonly<Record<string, string>>, more: object = {}): Raw => ({
  metadata: {
    ...METADATA,
    labels: { "app.kubernetes.io/managed-by": "secretcast" },
    annotations: { ...MARKS, ...annotations },
    ...more,
  },
});
const OURS = copy({});
const PULLING = copy({ "secretcast.io/from": "a/b" });
const OFFERED: Raw = { metadata: { ...METADATA, annotations: { "secretcast.io/adopt": "c/d" } } };
const FROZEN = copy({ "secretcast.io/unheard-of": "x" });
const UNMANAGED: readonly Raw[] = [
  { metadata: METADATA },
  copy({}, { labels: {} }),
  copy({ "secretcast.io/placed-at": "tenant/other" }),
  copy({ "secretcast.io/source": "registry" }),
  copy({ "secretcast.io/source-uid": "" }),
];

const PATH = "/api/v1/namespaces/tenant/secrets/registry";

/** What is told of one write, of this version. */
function judged(before: Raw, method: string, body: unknown, path = PATH): readonly string[] {
  const violations = new Violations(() => undefined);
  const judge = new RequestJudge(violations);
  judge.see(before);
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
    for (const before of [OURS, PULLING, OFFERED])
      assert.deepEqual(judged(before, "PATCH", body), []);
});

test("a patch of an unmanaged Secret and of a frozen copy is reported", () => {
  for (const before of UNMANAGED)
    assert.match(judged(before, "PATCH", JSON_PATCH).join(), /not ours: PATCH .*registry/);
  assert.match(judged(FROZEN, "PATCH", JSON_PATCH).join(), /a newer version made it: PATCH/);
});

test("a patch that names no version is reported", () => {
  for (const body of [{ data: {} }, [{ op: "add", path: "/data", value: {} }]])
    assert.match(judged(OURS, "PATCH", body).join(), /without a resourceVersion/);
});

test("a delete is of a copy, and names UID and version", () => {
  const options = { preconditions: VERSION };
  assert.deepEqual(judged(OURS, "DELETE", options), []);
  for (const before of [...UNMANAGED, PULLING, OFFERED])
    assert.match(judged(before, "DELETE", options).join(), /not ours: DELETE/);
  assert.match(judged(FROZEN, "DELETE", options).join(), /a newer version made it: DELETE/);
  assert.match(judged(OURS, "DELETE", {}).join(), /without a resourceVersion/);
  const unnamed = { preconditions: { resourceVersion: "7" } };
  assert.match(judged(OURS, "DELETE", unnamed).join(), /without a UID/);
});

test("whatever is made is a copy in its place, without a finalizer", () => {
  const path = "/api/v1/namespaces/tenant/secrets";
  assert.deepEqual(judged(OURS, "POST", OURS, path), []);
  const { name } = METADATA;
  assert.match(judged(OURS, "POST", { metadata: { name } }, path).join(), /not marked as ours/);
  const held = copy({}, { finalizers: ["example.com/x"] });
  assert.match(judged(OURS, "POST", held, path).join(), /made a finalizer/);
});

test("a request outside the controller's rights is reported, as is a repeated one", () => {
  const violations = new Violations(() => undefined);
  const judge = new AskedJudge(violations);
  const get = (path: string, search = "") => {
    const query = new URLSearchParams(search);
    return { method: "GET", path, query, kind: "other" } as const;
  };
  const lists = "/api/v1/namespaces/secretcast/configmaps";
  const list = get(lists, "watch=true&fieldSelector=metadata.name%3Dsecretcast-sources");
  const lease = get("/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/secretcast");
  judge.round([list, lease, get("/api/v1/namespaces/tenant"), get("/version")]);
  const write = { method: "PATCH", path: PATH, query: new URLSearchParams(), body: "{}" };
  for (let n = 0; n < 24; n++) judge.write({ ...write, status: 409 });
  judge.round([get(PATH)]);
  assert.deepEqual(violations.lines, []);
  judge.round([get(PATH), get(lists), get("/api/v1/namespaces/tenant/pods/x")]);
  assert.match(violations.lines.join("\n"), /again and again: tenant\/registry: 26 requests/);
  assert.match(violations.lines.join("\n"), /outside .*configmaps .*\n.*outside .*pods\/x /);
});
