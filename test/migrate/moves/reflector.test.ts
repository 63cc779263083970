// Reflector, by its documents and its source: rules in two pairs, pushed copies and mirrors that ask.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../../src/text/names.ts";
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import { namespace } from "../../support/worlds/custom-objects.ts";
import { migrationOf, moveSettings, written } from "../../support/worlds/migration.ts";

const KEY = "reflector.v1.k8s.emberstack.com/";
type Texts = Readonly<Record<string, string>>;

function secret(place: string, words: Texts, data: Texts = { token: "b25l" }): unknown {
  const [namespace = "", name = ""] = place.split("/");
  const annotations = Object.fromEntries(
    Object.entries(words).map(([key, value]) => [KEY + key, value]),
  );
  const metadata = { namespace, name, annotations, uid: `u ${place}`, resourceVersion: "7" };
  return { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data };
}

const ALLOWED = { "reflection-allowed": "true" };
const PUSHED = { ...ALLOWED, "reflection-auto-enabled": "true" };
const COPIED = { "auto-reflects": "True", reflects: "shared/x" };
const CLUSTER = [
  namespace("shared"),
  namespace("team-a", { tier: "app" }),
  namespace("team-b", { tier: "app" }),
  namespace("ops"),
];

for (const [rule, words, said, reached] of [
  ["allowed and automatic everywhere", {}, { to: "*", allow: "*" }, ["ops", "team-a", "team-b"]],
  [
    "a list of both",
    { "reflection-allowed-namespaces": "team-.*", "reflection-auto-namespaces": "team-.*" },
    { to: "team-*", allow: "team-*" },
    ["team-a", "team-b"],
  ],
  [
    "automatic in fewer than allowed",
    { "reflection-auto-namespaces": "team-a" },
    { to: "team-a", allow: "*" },
    ["team-a"],
  ],
  [
    "two lists that differ",
    { "reflection-allowed-namespaces": "team-a,ops", "reflection-auto-namespaces": "team-.*" },
    { to: "team-a", allow: "team-a,ops" },
    ["team-a"],
  ],
  [
    "a list and a selector",
    {
      "reflection-allowed-namespaces": "team-a,ops",
      "reflection-auto-namespaces-selector": "tier=app",
    },
    { to: "team-a,ops", "to-selector": "tier=app", allow: "team-a,ops" },
    ["team-a"],
  ],
  [
    "a list or a selector",
    {
      "reflection-allowed-namespaces": "ops",
      "reflection-allowed-namespaces-selector": "tier=app",
    },
    {
      to: "ops",
      "to-selector": "tier=app",
      match: "any",
      allow: "ops",
      "allow-selector": "tier=app",
    },
    ["ops", "team-a", "team-b"],
  ],
  [
    "an alternation whose first match is not the whole name",
    { "reflection-auto-namespaces": "team|team-a|ops" },
    { to: "team,ops", allow: "*" },
    ["ops"],
  ],
] as const) {
  test(`${rule}: the annotations name the same namespaces`, async () => {
    const source = secret("shared/x", { ...PUSHED, ...words });
    const copies = reached.map((each) => secret(`${each}/x`, COPIED));
    const migration = await migrationOf("reflector", [...CLUSTER, source, ...copies]);
    assert.deepEqual(migration.problems, []);
    assert.deepEqual(written(migration), [said]);
    const found = migration.sources.map(({ reached, gained, lost }) => [reached, gained, lost]);
    assert.deepEqual(found, [[reached, [], []]]);
  });
}

test("equal pushed copies and exact mirrors are adopted", async () => {
  const pushed = { "auto-reflects": "True", reflects: "shared/x", "reflected-version": "7" };
  const asking = { "auto-reflects": "False", reflects: "shared/y" };
  const { copies } = await migrationOf("reflector", [
    ...CLUSTER,
    secret("shared/x", { ...PUSHED, "reflection-auto-namespaces": "team-.*" }),
    secret(
      "shared/y",
      { ...ALLOWED, "reflection-allowed-namespaces": "team-.*" },
      { token: "dHdv" },
    ),
    secret("team-a/x", pushed),
    secret("team-b/x", pushed, { token: "ZWRpdGVk" }),
    secret("ops/x", pushed),
    secret("team-a/y", asking, { token: "dHdv", own: "bWluZQ==" }),
    secret("team-b/y", asking, { token: "dHdv" }),
    secret("team-b/renamed", asking, { token: "b2xk" }),
    secret("ops/y", asking, { token: "dHdv" }),
    secret("team-a/gone", { ...pushed, reflects: "shared/gone" }),
    secret("team-b/other", pushed),
  ]);
  assert.deepEqual(
    Object.fromEntries(copies.map(({ object, state }) => [refText(object), state])),
    {
      "ops/x": "outside",
      "ops/y": "outside",
      "team-a/gone": "orphan",
      "team-a/x": "adoptable",
      "team-a/y": "merged",
      "team-b/other": "doubtful",
      "team-b/renamed": "drifted",
      "team-b/x": "drifted",
      "team-b/y": "adoptable",
    },
  );
});

test("where the source list is turned off a source moves by its annotations", async () => {
  const given = { flag: () => undefined };
  const settings = { ...moveSettings(), list: undefined };
  const objects = [...CLUSTER, secret("shared/registry", PUSHED)];
  const { sources } = await planMove(OLD_TOOL.reflector, objects, given, settings);
  assert.deepEqual(
    sources.map(({ write, entry, problems }) => ({ write, entry, problems })),
    [{ write: "annotate", entry: undefined, problems: [] }],
  );
});
