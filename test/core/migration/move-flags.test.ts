// The flags that the controller has to run with after a move.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migrationOf } from "../../support/worlds/migration.ts";

const KEY = "reflector.v1.k8s.emberstack.com/";
const PUSHED = { [`${KEY}reflection-allowed`]: "true", [`${KEY}reflection-auto-enabled`]: "true" };
const CLUSTER = ["shared", "vault", "team-a"].map((name) => ({
  kind: "Namespace",
  metadata: { name },
}));

for (const [rule, lying, flags] of [
  ["no source gives no flag", [], []],
  ["one source gives its namespace", ["shared"], ["--source-namespaces=shared"]],
  ["two give both", ["shared", "vault"], ["--source-namespaces=shared,vault"]],
] as const) {
  test(`the flags after a move: ${rule}`, async () => {
    const sources = lying.map((namespace) => ({
      kind: "Secret",
      metadata: { namespace, name: `of-${namespace}`, annotations: PUSHED },
      data: { token: "b25l" },
    }));
    const migration = await migrationOf("reflector", [...CLUSTER, ...sources]);
    assert.deepEqual(migration.problems, []);
    assert.deepEqual(migration.flags, flags);
  });
}
