// Kyverno's rules that clone ConfigMaps: they move as those of Secrets, and the two kinds never mix.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isToAdopt, namedPlace } from "../../../../src/migrate/command/apply-migration.ts";
import { planMove } from "../../../../src/migrate/command/plan-move.ts";
import type { Migration } from "../../../../src/migrate/moves/migration.ts";
import { readMoved, rawSource } from "../../../../src/migrate/moves/moved-content.ts";
import {
  cleanupRequests,
  copyRequest,
  listRequest,
  sourceRequest,
} from "../../../../src/migrate/moves/move-requests.ts";
import { OLD_TOOL } from "../../../../src/migrate/oldtools/old-tools.ts";
import { migrationOf, moveSettings } from "../../../support/worlds/migration.ts";

type Raw = Readonly<Record<string, unknown>>;
type Kind = "Secret" | "ConfigMap";

const uidOf = (name: string): string =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").padEnd(12, "0").slice(-12)}`;
const CA = { data: { "ca.crt": "a certificate" }, binaryData: { "trust.jks": "AAEC" } };

function namespaces(): readonly Raw[] {
  return ["platform", "team-a", "team-b"].map((name) => ({
    kind: "Namespace",
    metadata: { name, uid: uidOf(name) },
  }));
}

function object(kind: Kind, namespace: string, name: string, rest: Raw, metadata: Raw = {}): Raw {
  const uid = uidOf(`${kind.slice(0, 1)}${namespace.slice(-1)}${name.slice(-3)}`);
  const identity = { namespace, name, uid, resourceVersion: "1" };
  return { apiVersion: "v1", kind, metadata: { ...identity, ...metadata }, ...rest };
}

function copy(kind: Kind, source: Raw, rest: Raw, namespace = "team-a", change: Raw = {}): Raw {
  const { name, uid } = source["metadata"] as { readonly name: string; readonly uid: string };
  const labels = {
    "app.kubernetes.io/managed-by": "kyverno",
    "generate.kyverno.io/policy-name": "share",
    "generate.kyverno.io/policy-namespace": "",
    "generate.kyverno.io/rule-name": "copy",
    "generate.kyverno.io/source-uid": uid,
    "generate.kyverno.io/trigger-uid": uidOf(namespace),
    ...change,
  };
  return object(kind, namespace, name, rest, { labels });
}

function policy(generate: Raw): Raw {
  const match = { any: [{ resources: { kinds: ["Namespace"], names: ["team-*"] } }] };
  const namespace = "{{request.object.metadata.name}}";
  const rules = [{ name: "copy", match, generate: { namespace, synchronize: true, ...generate } }];
  const metadata = { name: "share", uid: "u" };
  return { apiVersion: "kyverno.io/v1", kind: "ClusterPolicy", metadata, spec: { rules } };
}

const clone = (kind: Kind, name: string): Raw =>
  policy({ apiVersion: "v1", kind, name, clone: { namespace: "platform", name } });
const cloneList = (...kinds: readonly string[]): Raw =>
  policy({
    cloneList: { namespace: "platform", kinds, selector: { matchLabels: { share: "yes" } } },
  });

const SOURCE = object("ConfigMap", "platform", "ca", CA);

function plan(...objects: readonly Raw[]): Promise<Migration> {
  return migrationOf("kyverno", [...namespaces(), ...objects]);
}

function statesOf({ copies }: Migration): Readonly<Record<string, string>> {
  return Object.fromEntries(
    copies.map(({ object: { kind, namespace, name }, state }) => [
      `${kind} ${namespace}/${name}`,
      state,
    ]),
  );
}

function wordsOf({ sources }: Migration): readonly (readonly [string, string, string])[] {
  return sources.map(({ place, write, annotations }) => [
    `${place.kind} ${place.namespace}/${place.name}`,
    write,
    annotations["secretcast.io/to"] ?? "",
  ]);
}

test("a rule that clones a ConfigMap moves, and the flags of the controller include --config-maps", async () => {
  const migration = await plan(clone("ConfigMap", "ca"), SOURCE, copy("ConfigMap", SOURCE, CA));
  assert.deepEqual(migration.problems, []);
  assert.deepEqual(wordsOf(migration), [["ConfigMap platform/ca", "annotate", "team-*"]]);
  assert.deepEqual(statesOf(migration), { "ConfigMap team-a/ca": "adoptable" });
  assert.deepEqual(migration.flags, ["--source-namespaces=platform", "--config-maps"]);
  const secret = object("Secret", "platform", "ca", { data: { token: "YQ==" } });
  const { flags } = await plan(clone("Secret", "ca"), secret, SOURCE);
  assert.deepEqual(flags, ["--source-namespaces=platform"], "no ConfigMap moves");
});

test("every request is for the ConfigMap and writes metadata alone", async () => {
  const migration = await plan(clone("ConfigMap", "ca"), SOURCE, copy("ConfigMap", SOURCE, CA));
  const [source] = migration.sources;
  const [adopted] = migration.copies;
  assert.ok(source?.content && adopted);
  const raw = rawSource(source.place, source.object, source.content, source.annotations);
  const { kind } = source.place;
  const moved = readMoved(raw, given(), { kind, entry: undefined });
  const requests = [sourceRequest(source), copyRequest(migration.tool, adopted, moved)];
  const paths = requests.map((request) => [
    request?.kind,
    `${request?.namespace ?? ""}/${request?.name ?? ""}`,
    request?.what,
  ]);
  assert.deepEqual(paths, [
    ["ConfigMap", "platform/ca", "annotate ConfigMap platform/ca"],
    ["ConfigMap", "team-a/ca", "adopt ConfigMap team-a/ca"],
  ]);
  for (const request of requests) {
    const operations = request?.body as readonly { readonly op: string; readonly path: string }[];
    assert.ok(operations.length > 0);
    for (const { path } of operations) assert.match(path, /^\/metadata\//);
  }
});

function given(): Parameters<typeof readMoved>[1] {
  const { planner, digest } = moveSettings();
  return { settings: planner, digest };
}

for (const [what, held, state] of [
  ["the same entries", CA, "adoptable"],
  ["the same entries and immutable", { ...CA, immutable: true }, "adoptable"],
  ["another text", { ...CA, data: { "ca.crt": "another" } }, "drifted"],
  ["other bytes", { ...CA, binaryData: { "trust.jks": "AAED" } }, "drifted"],
  ["no bytes", { data: CA.data }, "drifted"],
  [
    "the text of the bytes",
    { data: { ...CA.data, "trust.jks": "AAEC" }, binaryData: {} },
    "drifted",
  ],
  ["an entry more", { ...CA, data: { ...CA.data, own: "1" } }, "merged"],
  ["bytes more", { ...CA, binaryData: { ...CA.binaryData, own: "AA==" } }, "merged"],
] as const) {
  test(`a copy of a ConfigMap with ${what} is ${state}`, async () => {
    const migration = await plan(clone("ConfigMap", "ca"), SOURCE, copy("ConfigMap", SOURCE, held));
    assert.deepEqual(statesOf(migration), { "ConfigMap team-a/ca": state });
  });
}

test("a ConfigMap without Kyverno's marks for its kind is not adopted", async () => {
  const unmarked = object("ConfigMap", "team-a", "ca", CA);
  const taken = await plan(clone("ConfigMap", "ca"), SOURCE, unmarked);
  assert.deepEqual(statesOf(taken), { "ConfigMap team-a/ca": "unmanaged" });
  assert.match(taken.copies[0]?.why ?? "", /^a ConfigMap without the tool's mark is in the way/);
  const fromData = { "generate.kyverno.io/source-uid": "" };
  const made = copy("ConfigMap", SOURCE, CA, "team-b", fromData);
  const seeded = await plan(clone("ConfigMap", "ca"), SOURCE, made);
  assert.deepEqual(statesOf(seeded), { "ConfigMap team-b/ca": "orphan" });
  assert.deepEqual(cleanupRequests(seeded).copies, []);
  const secret = copy("Secret", SOURCE, { data: {} });
  const mixed = await plan(clone("ConfigMap", "ca"), SOURCE, secret);
  assert.deepEqual(statesOf(mixed), { "Secret team-a/ca": "orphan" });
});

test("a Secret and a ConfigMap of one cloneList move separately", async () => {
  const metadata = { labels: { share: "yes" } };
  const secret = object("Secret", "platform", "app", { data: { token: "YQ==" } }, metadata);
  const map = object("ConfigMap", "platform", "app", CA, metadata);
  const migration = await plan(
    cloneList("v1/Secret", "v1/ConfigMap", "v1/Service"),
    secret,
    map,
    copy("Secret", secret, { data: { token: "YQ==" } }),
    copy("ConfigMap", map, { data: { "ca.crt": "another" } }),
    object("ConfigMap", "team-b", "app", CA),
  );
  assert.deepEqual(wordsOf(migration), [
    ["Secret platform/app", "annotate", "team-*"],
    ["ConfigMap platform/app", "annotate", "team-*"],
  ]);
  assert.deepEqual(statesOf(migration), {
    "Secret team-a/app": "adoptable",
    "ConfigMap team-a/app": "drifted",
    "ConfigMap team-b/app": "unmanaged",
  });
  const named = (names: readonly string[]): readonly string[] =>
    migration.copies
      .filter((one) => isToAdopt(one, new Set(names)))
      .map(({ object: one }) => namedPlace(one));
  assert.deepEqual(named(["team-a/app"]), ["team-a/app"], "it names the Secret");
  assert.deepEqual(named(["configmap/team-a/app"]), ["team-a/app", "configmap/team-a/app"]);
  assert.ok(
    migration.problems.some((one) => one.includes("a Secret or ConfigMap in platform that gets")),
  );
  const moved = await plan(
    cloneList("v1/Secret", "v1/ConfigMap", "v1/Service"),
    ...[secret, map].map((one) => {
      const annotations = { "secretcast.io/to": "team-*", "secretcast.io/copy-labels": "share" };
      const own = one["metadata"] as Raw;
      return { ...one, metadata: { ...own, annotations } };
    }),
    object("ConfigMap", "team-b", "app", CA, {
      labels: {
        ...(copy("ConfigMap", map, CA, "team-b")["metadata"] as { readonly labels: Raw }).labels,
        "app.kubernetes.io/managed-by": "secretcast",
      },
      annotations: {
        "secretcast.io/placed-at": "team-b/app",
        "secretcast.io/source": "platform/app",
        "secretcast.io/source-uid": (map["metadata"] as Raw)["uid"],
      },
    }),
  );
  assert.deepEqual(statesOf(moved), { "ConfigMap team-b/app": "adopted" });
  assert.ok(moved.flags.includes("--config-maps"));
  const { copies } = cleanupRequests(moved);
  assert.deepEqual(
    copies.map(({ kind, what }) => [kind, what]),
    [["ConfigMap", "clean up ConfigMap team-b/app"]],
  );
});

test("what a cloneList has of kinds that do not move stays in the policy", async () => {
  const metadata = { labels: { share: "yes" } };
  const map = object("ConfigMap", "platform", "app", CA, metadata);
  const services = await plan(cloneList("v1/Service"), map);
  assert.deepEqual([services.sources, services.problems], [[], []]);
  const { tool, sources } = await plan(cloneList("v1/ConfigMap", "v1/Service"), map);
  const disarmed = policy({
    cloneList: {
      namespace: "platform",
      kinds: ["v1/ConfigMap", "v1/Service"],
      selector: { matchLabels: { share: "yes" } },
    },
    synchronize: false,
    orphanDownstreamOnPolicyDelete: true,
  });
  const custom = {
    group: "kyverno.io",
    kind: "ClusterPolicy",
    namespace: undefined,
    name: "share",
    uid: "u",
    resourceVersion: "1",
    deleting: false,
    labels: {},
    annotations: {},
    finalizers: [],
    fields: disarmed,
  };
  const moving = sources.map(({ old }) => old);
  const [line] = tool.armed?.([custom], "clean-up", moving) ?? [];
  assert.match(
    line ?? "",
    /"path":"\/spec\/rules\/0\/generate\/cloneList\/kinds","value":\["v1\/S/,
  );
});

test("a GeneratingPolicy that copies a ConfigMap moves", async () => {
  const expression =
    'generator.Apply(object.metadata.name, [resource.Get("v1", "configmaps", "platform", "ca")])';
  const resourceRules = [
    { apiGroups: [""], resources: ["namespaces"], operations: ["CREATE", "UPDATE"] },
  ];
  const generating = {
    apiVersion: "policies.kyverno.io/v1",
    kind: "GeneratingPolicy",
    metadata: { name: "gp", uid: "u" },
    spec: {
      evaluation: { synchronize: { enabled: true } },
      matchConstraints: { resourceRules },
      generate: [{ expression }],
    },
  };
  const migration = await plan(generating, SOURCE);
  assert.deepEqual(migration.problems, []);
  assert.deepEqual(wordsOf(migration), [["ConfigMap platform/ca", "annotate", "*"]]);
});

for (const [name, why] of [
  ["secretcast-sources", /a ConfigMap of this name tells secretcast what to do/],
  ["kube-root-ca.crt", /kube-root-ca\.crt/],
] as const) {
  test(`the ConfigMap ${name} does not move, and the reason is named`, async () => {
    const { sources, problems, flags } = await plan(
      clone("ConfigMap", name),
      object("ConfigMap", "platform", name, CA),
    );
    assert.deepEqual(
      sources.map(({ write }) => write),
      ["refused"],
    );
    assert.match(problems.join("\n"), why);
    assert.deepEqual(flags, []);
  });
}

test("the source list has an entry for each kind, also for one name", async () => {
  const metadata = {
    labels: { share: "yes" },
    annotations: { "argocd.argoproj.io/tracking-id": "x" },
  };
  const secret = object("Secret", "platform", "app", { data: { token: "YQ==" } }, metadata);
  const map = object("ConfigMap", "platform", "app", CA, metadata);
  const objects = [...namespaces(), cloneList("v1/Secret", "v1/ConfigMap"), secret, map];
  const settings = moveSettings({}, true);
  const flags = { flag: () => undefined };
  const { sources, list } = await planMove(OLD_TOOL.kyverno, objects, flags, settings);
  assert.ok(list);
  const entries = sources.flatMap(({ entry }) => (entry ? [entry] : []));
  const { body } = listRequest(list, entries) ?? {};
  const { data } = body as { readonly data: Readonly<Record<string, string>> };
  const rest = 'to: "team-*"\ncopy-labels: "share"\n';
  assert.deepEqual(data, {
    "platform.app": `secret: platform/app\n${rest}`,
    "platform.app_ConfigMap": `configMap: platform/app\n${rest}`,
  });
  const there = {
    kind: "ConfigMap",
    metadata: { ...list.ref, uid: "u", resourceVersion: "2" },
    data,
  };
  const again = await planMove(OLD_TOOL.kyverno, [...objects, there], flags, settings);
  assert.deepEqual(
    again.sources.map(({ write }) => write),
    ["none", "none"],
  );
});
