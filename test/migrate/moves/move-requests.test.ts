// What a move writes, and what it leaves: sources that are moved, refused and done, namespaces that have
// words of others, entries of the source list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import type { Migration } from "../../../src/migrate/moves/migration.ts";
import {
  listRequest,
  namespaceRequest,
  sourceRequest,
} from "../../../src/migrate/moves/move-requests.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import type { OldToolName } from "../../../src/migrate/oldtools/old-tool.ts";
import { migrationOf, moveSettings } from "../../support/worlds/migration.ts";
import { jsonPatch } from "../../../packages/sandbox/verbs/patch-formats.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";

const KEY = "reflector.v1.k8s.emberstack.com/";
type Texts = Readonly<Record<string, string>>;
type Metadata = Readonly<Record<string, unknown>> & { readonly annotations?: Texts };
type Raw = { readonly kind: string; readonly metadata: Metadata; readonly data?: Texts };

function namespace(name: string, annotations?: Texts): Raw {
  const metadata = { name, uid: `u ${name}`, resourceVersion: "3" };
  return { kind: "Namespace", metadata: { ...metadata, ...(annotations && { annotations }) } };
}

function secret(place: string, annotations: Texts, labels: Texts = {}): Raw {
  const [namespace = "", name = ""] = place.split("/");
  const metadata = {
    namespace,
    name,
    labels,
    annotations,
    uid: `u ${place}`,
    resourceVersion: "7",
  };
  return { kind: "Secret", metadata, data: { token: "b25l" } };
}

const PUSHED = { [`${KEY}reflection-allowed`]: "true", [`${KEY}reflection-auto-enabled`]: "true" };
const MOVED = { "secretcast.io/to": "*", "secretcast.io/allow": "*" };
const CLUSTER = [namespace("shared"), namespace("team-a")];

async function sourceOf(source: Raw): Promise<Migration["sources"][number]> {
  const { sources } = await migrationOf("reflector", [...CLUSTER, source]);
  const [first] = sources;
  assert.ok(first);
  return first;
}

function byList(name: OldToolName, objects: readonly unknown[]): Promise<Migration> {
  return planMove(OLD_TOOL[name], objects, { flag: () => undefined }, moveSettings({}, true));
}

test("a source with the right annotations is done, and one with others is refused", async () => {
  const fresh = await sourceOf(secret("shared/x", PUSHED));
  assert.equal(fresh.write, "annotate");
  assert.equal(sourceRequest(fresh)?.what, "annotate Secret shared/x");
  for (const [words, write, problems] of [
    [MOVED, "none", 0],
    [{ ...MOVED, "secretcast.io/to": "team-a" }, "refused", 1],
    [{ ...MOVED, "secretcast.io/paused": "true" }, "refused", 1],
    [{ "secretcast.io/to": "*" }, "refused", 1],
  ] as const) {
    const moved = await sourceOf(secret("shared/x", { ...PUSHED, ...words }));
    assert.deepEqual([moved.write, moved.problems.length], [write, problems]);
    assert.equal(sourceRequest(moved), undefined);
  }
});

test("a source that we cannot take is refused with each reason once, and not written", async () => {
  const name = "sh.helm.release.v1.app.v1";
  const moved = await sourceOf(secret(`shared/${name}`, PUSHED));
  assert.equal(moved.write, "refused");
  assert.equal(new Set(moved.problems).size, moved.problems.length);
  assert.equal(sourceRequest(moved), undefined);
});

test("a rule without a glob or a namespace is reported, and the rest moves", async () => {
  const words = { [`${KEY}reflection-auto-namespaces`]: "(prod|test)-[0-9]+" };
  const moved = await sourceOf(secret("shared/x", { ...PUSHED, ...words }));
  assert.deepEqual(moved.annotations, { "secretcast.io/allow": "*" });
  assert.equal(moved.write, "annotate");
  assert.match(
    moved.incomplete.join(),
    /no glob expresses the pattern "\(prod\|test\)-\[0-9\]\+".*set secretcast\.io\/to yourself/,
  );
});

test("a rule without a glob names today's namespaces and is incomplete", async () => {
  const words = { [`${KEY}reflection-auto-namespaces`]: "team-[a-z]+,ops-.*" };
  const moved = await sourceOf(secret("shared/x", { ...PUSHED, ...words }));
  assert.equal(moved.annotations["secretcast.io/to"], "team-a,ops-*");
  assert.match(
    moved.incomplete.join(),
    /no glob expresses the pattern "team-\[a-z\]\+" \(team-\* matches these names and others\); the 1 namespaces/,
  );
});

test("what the old tool leaves out stays left out, also without a namespace", async () => {
  const { sources } = await migrationOf("clustersecret", [
    ...CLUSTER,
    {
      kind: "ClusterSecret",
      metadata: { name: "x" },
      matchNamespace: ["team-.*"],
      avoidNamespaces: ["team-legacy"],
      data: { token: "b25l" },
    },
  ]);
  assert.equal(sources[0]?.annotations["secretcast.io/to"], "team-*,!team-legacy*");
});

test("a namespace keeps each annotation that it has when it is made to accept", async () => {
  const mark = { "eightypercent.net/secretsync": "yes" };
  for (const own of [{}, { owner: "crew" }]) {
    const asking = namespace("team-a", { ...mark, ...own });
    const source = secret("secretsync/x", mark);
    const { namespaces } = await migrationOf("tgik", [namespace("secretsync"), asking, source]);
    const [moved] = namespaces;
    assert.ok(moved);
    const written = jsonPatch(asking as Json, namespaceRequest(moved)?.body as Json) as Raw;
    const accept = { "secretcast.io/accept": "secretsync/*" };
    assert.deepEqual(written.metadata.annotations, { ...mark, ...own, ...accept });
  }
});

const MADE = { "app.kubernetes.io/managed-by": "vault" };
const LIST = { namespace: "secretcast", name: "secretcast-sources" };

test("a source that something creates becomes an entry of the list", async () => {
  const made = secret("shared/x", PUSHED, MADE);
  const metadata = { ...LIST, uid: "u list", resourceVersion: "9" };
  for (const list of [
    undefined,
    { kind: "ConfigMap", metadata },
    { kind: "ConfigMap", metadata, data: null },
    { kind: "ConfigMap", metadata, data: {} },
    { kind: "ConfigMap", metadata, data: { other: "secret: a/b\nto: c" } },
  ]) {
    const { sources, list: read } = await byList("reflector", [
      ...CLUSTER,
      made,
      ...(list ? [list] : []),
    ]);
    const [source] = sources;
    assert.deepEqual([source?.write, source?.problems], ["enter", []]);
    assert.ok(read && source?.entry);
    const request = listRequest(read, [source.entry]);
    const body = request?.body as Json;
    const written = (list ? jsonPatch(list, body) : body) as Raw;
    const before = list && "data" in list ? list.data : {};
    const entry = 'secret: shared/x\nto: "*"\nallow: "*"\n';
    assert.deepEqual(written.data, { ...before, "shared.x": entry });
  }
});

test("the source list is not written without an entry for it", async () => {
  const metadata = { ...LIST, uid: "u list", resourceVersion: "9" };
  for (const list of [[], [{ kind: "ConfigMap", metadata, data: {} }]]) {
    const { list: read } = await byList("reflector", [...CLUSTER, ...list]);
    assert.ok(read);
    assert.equal(listRequest(read, []), undefined);
  }
});

test("a source that the list has already is done", async () => {
  const data = { "shared.x": 'secret: shared/x\nto: "*"\nallow: "*"\n' };
  const metadata = { ...LIST, uid: "u list", resourceVersion: "9" };
  const list = { kind: "ConfigMap", metadata, data };
  const { sources } = await byList("reflector", [
    ...CLUSTER,
    secret("shared/x", PUSHED, MADE),
    list,
  ]);
  assert.deepEqual([sources[0]?.write, sources[0]?.entry?.key], ["none", "shared.x"]);
});

test("somebody's entry for the same object is a problem, and nothing is written", async () => {
  const made = secret("shared/x", PUSHED, MADE);
  const ours = 'secret: shared/x\nto: "*"\nallow: "*"\n';
  const metadata = { ...LIST, uid: "u list", resourceVersion: "9" };
  for (const [data, named] of [
    [{ "wildcard-tls": "secret: shared/x\nto: team-a\n" }, /\(wildcard-tls\)/],
    [{ "shared.x": "secret: shared/x\nto: team-*\non-delete: keep\n" }, /\(shared\.x\)/],
    [{ "shared.x": "secret: vault/y\nto: team-*\n" }, /the key shared\.x for something else/],
    [{ "shared.x": "not an entry" }, /the key shared\.x for something else/],
    [{ "shared.x": ours, other: "secret: shared/x\nto: team-a\n" }, /\(other\)/],
    [{ other: "secret: shared/x\nto: team-a\nno-such-field: 1\n" }, /\(other\)/],
  ] as const) {
    const list = { kind: "ConfigMap", metadata, data };
    for (const move of [byList, migrationOf]) {
      const { sources, problems } = await move("reflector", [...CLUSTER, made, list]);
      const [source] = sources;
      if (move === migrationOf && /something else/.test(String(named))) {
        assert.equal(source?.write, "annotate", JSON.stringify(data));
        continue;
      }
      assert.equal(source?.write, "refused", JSON.stringify(data));
      assert.match(source.problems.join("\n"), named);
      assert.ok(
        problems.some((problem) => named.test(problem)),
        "the exit code is 2",
      );
    }
  }
});

test("the namespace of the source with a copy comes first of two", async () => {
  const copy = (of: string): Texts => ({
    [`${KEY}auto-reflects`]: "True",
    [`${KEY}reflects`]: `${of}/x`,
    [`${KEY}reflected-version`]: "7",
  });
  for (const [holder, other] of [
    ["shared", "vault"],
    ["vault", "shared"],
  ] as const) {
    const objects = [
      ...CLUSTER,
      namespace("vault"),
      secret("shared/x", PUSHED),
      secret("vault/x", { ...PUSHED, [`${KEY}reflection-auto-namespaces`]: "team-.*" }),
      secret("team-a/x", copy(holder)),
    ];
    const { flags, problems } = await migrationOf("reflector", objects);
    assert.deepEqual(problems, []);
    assert.ok(
      flags.some((flag) => flag.includes(`${holder},${other}`)),
      flags.join(" "),
    );
  }
});

test("two sources of one name that share no namespace are in no contest", async () => {
  const to = (name: string): Texts => ({
    ...PUSHED,
    [`${KEY}reflection-allowed-namespaces`]: name,
  });
  const copy = (place: string, of: string): Raw =>
    secret(place, { [`${KEY}auto-reflects`]: "True", [`${KEY}reflects`]: of });
  const { problems, copies } = await migrationOf("reflector", [
    ...CLUSTER,
    namespace("team-b"),
    namespace("vault"),
    secret("shared/x", to("team-a")),
    secret("vault/x", to("team-b")),
    copy("team-a/x", "shared/x"),
    copy("team-b/x", "vault/x"),
  ]);
  assert.deepEqual(
    copies.map(({ state }) => state),
    ["adoptable", "adoptable"],
  );
  assert.deepEqual(problems, []);
});

test("--by-list enters created sources and annotates the others", async () => {
  for (const [words, labels, madeBy] of [
    [{}, {}, undefined],
    [{ "cert-manager.io/certificate-name": "x" }, {}, "the Certificate x"],
    [{ "argocd.argoproj.io/tracking-id": "x" }, {}, "Argo CD"],
    [{ "meta.helm.sh/release-name": "x" }, MADE, "the Helm release x"],
    [{}, { "kustomize.toolkit.fluxcd.io/name": "x" }, "Flux"],
    [{}, MADE, "vault"],
  ] as const) {
    const source = secret("shared/x", { ...PUSHED, ...words }, labels);
    const [moved] = (await byList("reflector", [...CLUSTER, source])).sources;
    assert.equal(moved?.madeBy, madeBy);
    assert.equal(moved?.write, madeBy === undefined ? "annotate" : "enter");
    const [direct] = (await migrationOf("reflector", [...CLUSTER, source])).sources;
    assert.equal(direct?.write, "annotate");
  }
});
