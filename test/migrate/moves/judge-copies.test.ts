// What each object that another tool marked is taken for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../../src/text/names.ts";
import { judgeCopy } from "../../../src/migrate/moves/judge-copies.ts";
import { cleanupRequests } from "../../../src/migrate/moves/move-requests.ts";
import { kubed } from "../../../src/migrate/oldtools/kubed.ts";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { markOfOne, secretSource } from "../../../src/migrate/oldtools/secret-source.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { jsonPatch } from "../../../packages/sandbox/verbs/patch-formats.ts";
import { migrationOf } from "../../support/worlds/migration.ts";

type Texts = Readonly<Record<string, string>>;

type Given = { readonly labels?: Texts; readonly data?: Texts; readonly version?: string };

const NAMESPACES = ["shared", "vault", "team-a"].map((name) => ({
  kind: "Namespace",
  metadata: { name },
}));

function secret(
  place: string,
  words: Texts,
  { labels = {}, data = { token: "b25l" }, version = "7" }: Given = {},
): unknown {
  const [namespace, name] = place.split("/");
  const metadata = { namespace, name, uid: `u ${place}`, resourceVersion: version };
  return { kind: "Secret", metadata: { ...metadata, labels, annotations: words }, data };
}

const REFLECTOR = "reflector.v1.k8s.emberstack.com/";
const PUSHED = {
  [`${REFLECTOR}reflection-allowed`]: "true",
  [`${REFLECTOR}reflection-auto-enabled`]: "true",
};
const COPY = { [`${REFLECTOR}auto-reflects`]: "True", [`${REFLECTOR}reflects`]: "shared/x" };

test("a copy with own entries is merged, and one with another value has drifted", async () => {
  for (const [data, state] of [
    [{ token: "b25l" }, "adoptable"],
    [{ token: "b25l", own: "bWluZQ==" }, "merged"],
    [{ token: "b25l", own: "bWluZQ==", more: "bWluZQ==" }, "merged"],
    [{ token: "b3RoZXI=" }, "drifted"],
    [{ token: "b3RoZXI=", own: "bWluZQ==" }, "drifted"],
    [{ own: "bWluZQ==" }, "drifted"],
    [{}, "drifted"],
  ] as const) {
    const objects = [secret("shared/x", PUSHED), secret("team-a/x", COPY, { data })];
    const { copies } = await migrationOf("reflector", [...NAMESPACES, ...objects]);
    assert.deepEqual(
      copies.map((copy) => copy.state),
      [state],
      JSON.stringify(data),
    );
  }
});

test("a copy or mirror with an unknown word of ours stays", async () => {
  const word = { "secretcast.io/to-selecter": "typo" };
  const mirror = { [`${REFLECTOR}reflects`]: "shared/x" };
  for (const [mark, state] of [
    [COPY, "adoptable"],
    [mirror, "adoptable"],
    [{ ...COPY, ...word }, "doubtful"],
    [{ ...mirror, ...word }, "doubtful"],
  ] as const) {
    const objects = [secret("shared/x", PUSHED), secret("team-a/x", mark)];
    const { copies } = await migrationOf("reflector", [...NAMESPACES, ...objects]);
    assert.deepEqual(
      copies.map((copy) => copy.state),
      [state],
      JSON.stringify(mark),
    );
    if (state === "doubtful") assert.match(copies[0]?.why ?? "", /secretcast\.io\/to-selecter/);
  }
});

test("five of the keys in which a copy differs are named", async () => {
  const keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
  for (const [count, reported] of [
    [1, "a"],
    [5, "a, b, c, d, e"],
    [6, "a, b, c, d, e and 1 more"],
    [8, "a, b, c, d, e and 3 more"],
  ] as const) {
    const data = Object.fromEntries(keys.slice(0, count).map((key) => [key, "b25l"]));
    const objects = [
      secret("shared/x", PUSHED, { data }),
      secret("team-a/x", COPY, { data: {} }),
      secret("team-a/y", { [`${REFLECTOR}reflects`]: "shared/x" }, { data: {} }),
    ];
    const { copies } = await migrationOf("reflector", [...NAMESPACES, ...objects]);
    assert.deepEqual(
      copies.map(({ state, why }) => [state, why]),
      [
        ["drifted", `other values than its source's in ${reported}`],
        ["drifted", `a mirror that is out of date in ${reported}`],
      ],
    );
  }
});

test("a copy, or a mirror, of a source whose data are not known is doubtful", () => {
  const objects = [secret("shared/x", {}), secret("team-a/x", {})];
  const [owner, object] = readOldCluster(objects, undefined, []).secrets;
  assert.ok(owner && object);
  const everywhere = { matches: [{ kind: "all" }], except: [] } as const;
  const known = secretSource(owner, { push: everywhere, allow: everywhere });
  const unknown = { ...known, content: undefined };
  for (const pulls of [false, true]) {
    for (const [source, state] of [
      [known, "adoptable"],
      [unknown, "doubtful"],
    ] as const) {
      assert.equal(judgeCopy(markOfOne(object, source, { pulls }), () => true, kubed).state, state);
    }
  }
});

test("a copy belongs to the source whose version it has, of two equal ones", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-.*" };
  for (const [version, owner] of [
    ["7", "shared/x"],
    ["9", "vault/x"],
  ] as const) {
    const { copies } = await migrationOf("replicator", [
      ...NAMESPACES,
      secret("shared/x", to),
      secret("vault/x", to, { version: "9" }),
      secret("team-a/x", { "replicator.v1.mittwald.de/replicated-from-version": version }),
    ]);
    assert.deepEqual(
      copies.map(({ state, source }) => [state, source?.object && refText(source.object)]),
      [["adoptable", owner]],
    );
  }
});

test("a source that is marked as a copy of itself is the source", async () => {
  const PREFIX = "kubed.appscode.com/";
  const origin = { namespace: "shared", name: "x", uid: "u shared/x" };
  const { copies, sources } = await migrationOf("kubed", [
    ...NAMESPACES,
    secret(
      "shared/x",
      { [`${PREFIX}sync`]: "", [`${PREFIX}origin`]: JSON.stringify(origin) },
      { labels: { [`${PREFIX}origin.name`]: "x", [`${PREFIX}origin.namespace`]: "shared" } },
    ),
  ]);
  assert.deepEqual(
    copies.map(({ state, why }) => [state, why]),
    [["source", "it is the source, marked as a copy of itself"]],
  );
  assert.equal(sources[0]?.write, "annotate");
});

test("kubed's copies into other clusters are named, and a nameless ClusterSecret is none", async () => {
  const PREFIX = "kubed.appscode.com/";
  const sync = { [`${PREFIX}sync`]: "" };
  const besides = async (words: Texts): Promise<readonly string[]> =>
    (await migrationOf("kubed", [...NAMESPACES, secret("shared/x", words)])).besides;
  assert.deepEqual(await besides(sync), []);
  const [reported, ...more] = await besides({ ...sync, [`${PREFIX}sync-contexts`]: "east" });
  assert.match(reported ?? "", /other clusters \(sync-contexts of shared\/x\)/);
  assert.deepEqual(more, []);
  const data = { token: "b25l" };
  const { sources } = await migrationOf("clustersecret", [
    ...NAMESPACES,
    { kind: "ClusterSecret", metadata: {}, data },
    { kind: "ClusterSecret", metadata: { name: "x" }, data },
  ]);
  assert.deepEqual(
    sources.map(({ old }) => old.copyName),
    ["x"],
  );
});

test("the ClusterSecret with a copy keeps a shared name, and the other gets its own", async () => {
  const named = (name: string): unknown => ({
    kind: "ClusterSecret",
    metadata: { name },
    data: { valueFrom: { secretKeyRef: { namespace: "vault", name: "root" } } },
  });
  const mark = { "clustersecret.io/created-by": "x" };
  const copy = (name: string): unknown =>
    secret(`team-a/${name}`, mark, { labels: { "clustersecret.io": "true" } });
  for (const [copies, holder] of [
    [[], "first"],
    [["first"], "first"],
    [["second"], "second"],
    [["first", "second"], "first"],
  ] as const) {
    const { sources } = await migrationOf("clustersecret", [
      ...NAMESPACES,
      secret("vault/root", {}),
      named("first"),
      named("second"),
      ...copies.map(copy),
    ]);
    const kept = sources.filter(({ place }) => refText(place) === "vault/root");
    assert.deepEqual(
      kept.map(({ old }) => old.copyName),
      [holder],
    );
    assert.equal(sources.length, 2);
  }
});

test("all marks of the old tool on our copies are cleaned up", async () => {
  const mark = { "clustersecret.io/created-by": "x" };
  const ours = {
    "secretcast.io/source": "vault/root",
    "secretcast.io/source-uid": "u vault/root",
    "secretcast.io/source-version": "7",
    "secretcast.io/placed-at": "team-a/first",
  };
  const labels = { "clustersecret.io": "true", "app.kubernetes.io/managed-by": "secretcast" };
  for (const [words, left] of [
    [mark, { "app.kubernetes.io/managed-by": "secretcast" }],
    [{}, { "app.kubernetes.io/managed-by": "secretcast" }],
  ] as const) {
    const copy = secret("team-a/first", { ...ours, ...words, own: "x" }, { labels });
    const migration = await migrationOf("clustersecret", [...NAMESPACES, copy]);
    const { copies } = cleanupRequests(migration);
    const [request] = copies;
    assert.equal(request?.what, "clean up Secret team-a/first");
    const patched = jsonPatch(copy as Json, request.body as Json);
    // Over the wire: what is undefined is not there.
    const written = JSON.parse(JSON.stringify(patched)) as {
      metadata: { labels: Texts; annotations: Texts };
    };
    assert.deepEqual(written.metadata.labels, left);
    assert.deepEqual(written.metadata.annotations, { ...ours, own: "x" });
  }
});

for (const [what, origin, doubt] of [
  ["agrees", { namespace: "shared", name: "x" }, undefined],
  ["names another namespace", { namespace: "vault", name: "x" }, /do not agree/],
  ["names another name", { namespace: "shared", name: "y" }, /do not agree/],
] as const)
  test(`a copy of kubed's whose annotation of origin ${what} is ${doubt ? "doubtful" : "adoptable"}`, async () => {
    const PREFIX = "kubed.appscode.com/";
    const labels = { [`${PREFIX}origin.name`]: "x", [`${PREFIX}origin.namespace`]: "shared" };
    const words = { [`${PREFIX}origin`]: JSON.stringify({ ...origin, uid: "u shared/x" }) };
    const { copies } = await migrationOf("kubed", [
      ...NAMESPACES,
      secret("shared/x", { [`${PREFIX}sync`]: "" }),
      secret("team-a/x", words, { labels }),
    ]);
    assert.deepEqual(
      copies.map(({ state }) => state),
      [doubt ? "doubtful" : "adoptable"],
    );
    if (doubt) assert.match(copies[0]?.why ?? "", doubt);
  });

test("the tool's work on other kinds is named with sources and requests", async () => {
  const role = (name: string, words: Texts): unknown => ({
    kind: "Role",
    metadata: { namespace: "shared", name, annotations: words },
  });
  const from = { "replicator.v1.mittwald.de/replicate-from": "vault/x" };
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-a" };
  const reported = async (...roles: readonly unknown[]): Promise<readonly string[]> =>
    (await migrationOf("replicator", [...NAMESPACES, ...roles])).besides;
  assert.match((await reported(role("one", from)))[0] ?? "", /replicates 1 Role \(shared\/one\)/);
  assert.match(
    (await reported(role("one", from), role("two", to), role("none", {})))[0] ?? "",
    /replicates 2 Roles \(shared\/one, shared\/two\)/,
  );
  assert.deepEqual(await reported(role("none", {})), []);
});
