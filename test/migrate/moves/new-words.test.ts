// What the old tool leaves out, in our words: it is said where the list would name it otherwise, or might.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migrationOf, written } from "../../support/worlds/migration.ts";

const KEY = "replicator.v1.mittwald.de/";
const NAMESPACES = ["shared", "team-a", "team-b", "sandbox"].map((name) => ({
  kind: "Namespace",
  metadata: { name, labels: { tier: name === "team-a" ? "none" : "app" } },
}));

for (const [rule, words, said, reached] of [
  [
    "a list of names says nothing of what it does not name",
    { "replicate-to": "team-a,team-b" },
    { to: "team-a,team-b" },
    ["team-a", "team-b"],
  ],
  [
    "a list of names of which one is left out says so",
    { "replicate-to": "team-a,sandbox" },
    { to: "team-a,sandbox,!*sandbox*" },
    ["team-a"],
  ],
  [
    "a glob says what is left out",
    { "replicate-to": "team-.*" },
    { to: "team-*,!*sandbox*" },
    ["team-a", "team-b"],
  ],
  [
    "a selector says what is left out, also beside a list of names",
    { "replicate-to": "team-a", "replicate-to-matching": "tier=app" },
    { to: "team-a,!*sandbox*", "to-selector": "tier=app", match: "any" },
    ["team-a", "team-b"],
  ],
] as const) {
  test(`where the old tool leaves out the sandbox ${rule}`, async () => {
    const annotations = Object.fromEntries(
      Object.entries(words).map(([key, value]) => [KEY + key, value]),
    );
    const secret = {
      kind: "Secret",
      metadata: { namespace: "shared", name: "x", annotations },
      data: { token: "b25l" },
    };
    const migration = await migrationOf("replicator", [...NAMESPACES, secret], {
      "exclude-namespaces": "sandbox",
    });
    assert.deepEqual(written(migration), [said]);
    assert.deepEqual(migration.sources[0]?.reached, reached);
  });
}
