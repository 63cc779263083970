// What a copy holds, and what a write of it says.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { bytesOf, copyRequests } from "../../../src/controller/writes/object-requests.ts";
import type { Given, RawSecret, Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function copied(words: Texts, given: Given = {}): { made: Cluster; copy: RawSecret } {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/one", { to: "*", ...words }, given);
  made.settle();
  return { made, copy: made.get("team-a/one") };
}

test("a copy carries our marks and the data, type and immutability of its source", () => {
  const given = { type: "example.com/x", immutable: true, data: { a: "1" }, labels: { team: "x" } };
  const { made, copy } = copied({ "on-delete": "keep" }, given);
  const source = made.get("shared/one");
  assert.deepEqual(copy.metadata.labels, { "app.kubernetes.io/managed-by": "secretcast" });
  assert.deepEqual(copy.metadata.annotations, {
    "secretcast.io/source": "shared/one",
    "secretcast.io/source-uid": source.metadata.uid,
    "secretcast.io/placed-at": "team-a/one",
    "secretcast.io/source-version": source.metadata.resourceVersion,
    "secretcast.io/on-delete": "keep",
  });
  assert.deepEqual([copy.data, copy.type, copy.immutable], [source.data, source.type, true]);
});

test("a source of 253 characters: nothing derived from its name is in a label value", () => {
  const name = "n".repeat(253);
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret(`shared/${name}`, { to: "*" });
  made.settle();
  const { labels } = made.get(`team-a/${name}`).metadata;
  assert.ok(Object.values(labels).every((value) => value.length <= 63));
});

test("a mere metadata change of the source rewrites nothing", () => {
  const { made } = copied({});
  made.edit("shared/one", ({ metadata }) => (metadata.labels["team"] = "b"));
  made.now += 5000;
  assert.deepEqual(made.sync().actions, []);
});

test("an edited copy is restored, a deleted one made again, and the causes are reported", () => {
  const { made } = copied({});
  made.edit("team-a/one", ({ data }) => (data["extra"] = "eA=="));
  made.now += 5000;
  assert.equal(made.sync().actions[0]?.cause, "edited");
  assert.deepEqual(made.get("team-a/one").data, made.get("shared/one").data);
  made.delete("team-a/one");
  made.memory.places.vanished("team-a/one");
  made.now += 5000;
  assert.equal(made.sync().actions[0]?.cause, "deleted");
  made.edit("shared/one", ({ data }) => (data["key"] = "bmV3"));
  made.now += 5000;
  assert.equal(made.sync().actions[0]?.cause, "changed");
});

test("a source without data has copies without data", () => {
  const { made, copy } = copied({}, { data: {} });
  assert.deepEqual(copy.data, {});
  assert.deepEqual(made.sync().actions, []);
});

for (const [type, keep, expected] of [
  ["kubernetes.io/tls", "tls.crt", "Opaque"],
  ["kubernetes.io/tls", "tls.*", "kubernetes.io/tls"],
  ["kubernetes.io/basic-auth", "username", "kubernetes.io/basic-auth"],
  ["kubernetes.io/basic-auth", "tls.crt", "Opaque"],
  ["example.com/x", "tls.crt", "example.com/x"],
  ["constructor", "tls.crt", "constructor"],
] as const) {
  test(`a copy of ${type} with keys ${keep} is of type ${expected}`, () => {
    const data = { "tls.crt": "c", "tls.key": "k", username: "u" };
    assert.equal(copied({ keys: keep }, { type, data }).copy.type, expected);
  });
}

test("adopt: equal type only, the named source only, not an immutable one", () => {
  for (const [words, given, adopted] of [
    [{ adopt: "shared/one" }, {}, true],
    [{ adopt: "shared/other" }, {}, false],
    [{ adopt: "one" }, {}, false],
    [{ adopt: "shared/one" }, { type: "example.com/x" }, false],
    [{ adopt: "shared/one" }, { immutable: true }, false],
  ] as const) {
    const made = new Cluster().withNamespaces("shared", "team-a");
    made.secret("team-a/one", words, given);
    made.secret("shared/one", { to: "*" });
    made.settle();
    assert.equal(made.cached("team-a/one").role === "copy", adopted);
  }
});

test("the fan-out limit holds the creates of one source and no others", () => {
  const made = new Cluster({ fanoutLimitBytes: 5000 }).withNamespaces(
    "shared",
    "team-a",
    "team-b",
    "team-c",
  );
  made.secret("shared/big", { to: "team-a,team-b" }, { data: { key: "x".repeat(1500) } });
  made.secret("shared/small", { to: "*" });
  made.settle();
  assert.equal(made.secrets.has("team-b/big"), true);
  made.annotate("shared/big", { to: "*" });
  made.now += 5000;
  const result = made.sync();
  assert.equal(made.secrets.has("team-c/big"), false);
  assert.equal(made.secrets.has("team-c/small"), true);
  const big = result.sources.find(({ source }) => source.name === "big");
  assert.equal(big?.fanoutHeld, true);
  assert.ok(big.fanoutBytes > 5000);
  assert.equal(result.states.held, 1);
});

test("the fan-out limit counts copied labels and annotations, and the keys of data", () => {
  const fanout = (
    annotations: Readonly<Record<string, string>>,
    given: Parameters<Cluster["secret"]>[2] = {},
  ): number => {
    const made = new Cluster().withNamespaces("shared", "team-a", "team-b");
    made.secret("shared/one", { to: "team-*", ...annotations }, given);
    const raw = made.get("shared/one");
    raw.metadata.annotations["note"] = "€".repeat(50_000);
    raw.metadata.labels["team"] = "x".repeat(63);
    return made.plan().sources[0]?.fanoutBytes ?? 0;
  };
  const plain = fanout({});
  const noted = fanout({ "copy-annotations": "note" });
  assert.ok(noted - plain > 2 * 150_000 && noted - plain < 2 * 151_000, `${noted} and ${plain}`);
  const labelled = fanout({ "copy-labels": "team" });
  assert.ok(labelled - plain > 2 * 63 && labelled - plain < 2 * 150, `${labelled} and ${plain}`);
  const names = Array.from({ length: 1000 }, (_, at) => [`${"k".repeat(240)}${at}`, ""] as const);
  const keyed = fanout({}, { data: Object.fromEntries(names) });
  assert.ok(keyed - plain > 2 * 2 * 240_000, `${keyed} and ${plain}`);
});

test("what a write holds in flight counts escapes, UTF-8 and copied annotations", () => {
  const held = (data: string, note = ""): number => {
    const made = new Cluster({}, "ConfigMap").withNamespaces("shared", "team-a");
    made.secret("shared/one", { to: "*", "copy-annotations": "note" }, { data: { key: data } });
    if (note !== "") made.get("shared/one").metadata.annotations["note"] = note;
    const [create] = made.plan().actions;
    assert.equal(create?.kind, "create");
    return create ? bytesOf(create) : 0;
  };
  const empty = held("");
  assert.ok(empty > 0 && empty < 4096, String(empty));
  assert.equal(held("x".repeat(10_000)) - empty, 10_000);
  assert.equal(held("<".repeat(10_000)) - empty, 60_000);
  assert.equal(held("\u0001".repeat(10_000)) - empty, 60_000);
  assert.equal(held("€".repeat(10_000)) - empty, 30_000);
  const noted = held("", "<".repeat(10_000)) - empty;
  assert.ok(noted >= 60_000 && noted < 60_200, String(noted));
});

test("every call that touches an existing Secret carries its UID and resourceVersion", () => {
  const { made } = copied({});
  made.edit("team-a/one", ({ data }) => (data["key"] = "ZWRpdGVk"));
  made.now += 5000;
  const [action] = made.plan().actions;
  assert.equal(action?.kind, "update");
  const { uid, resourceVersion } = made.get("team-a/one").metadata;
  const [request] = copyRequests(action, made.payload(action.content.source));
  assert.ok(Array.isArray(request?.body));
  assert.deepEqual(request.body.slice(0, 2), [
    { op: "replace", path: "/metadata/uid", value: uid },
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
  ]);
});

test("no value shows when plans, rows or cached Secrets are printed", () => {
  const made = new Cluster().withNamespaces("shared", "team-a", "team-b");
  const data = { key: "TOPSECRETVALUE" };
  made.secret("shared/one", { to: "team-a", allow: "*" }, { data });
  made.secret("team-b/pull", { from: "shared/one" }, { data });
  const result = made.plan();
  assert.equal(result.actions.length, 2);
  const base64 = Buffer.from(data.key).toString("base64");
  for (const printed of [
    result,
    result.actions,
    [...made.clusterState().sources],
    [...made.clusterState().pulls],
  ]) {
    const text = inspect(printed, { depth: 20, showHidden: true }) + JSON.stringify(printed);
    assert.equal(text.includes(base64), false);
    assert.equal(text.includes(data.key), false);
  }
});

test("rows and reports are names only: no digest leaves with them", () => {
  const { made } = copied({});
  made.edit("team-a/one", ({ data }) => (data["key"] = "ZWRpdGVk"));
  const result = made.plan();
  const cached = made.cached("team-a/one");
  assert.ok(cached.role === "copy");
  const text = JSON.stringify([result.rows, result.sources]);
  assert.equal(text.includes(cached.template.dataDigest), false);
  assert.equal(text.includes(cached.template.fingerprint), false);
});
