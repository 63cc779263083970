// The flags that the controller has to run with after a move.
import assert from "node:assert/strict";
import { test } from "node:test";
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import { migrationOf, moveSettings } from "../../support/worlds/migration.ts";

const NO_FLAGS = { flag: () => undefined };

const KEY = "reflector.v1.k8s.emberstack.com/";
const PUSHED = { [`${KEY}reflection-allowed`]: "true", [`${KEY}reflection-auto-enabled`]: "true" };
const CLUSTER = ["shared", "vault", "team-a"].map((name) => ({
  kind: "Namespace",
  metadata: { name },
}));

const sourceIn = (namespace: string, name = `of-${namespace}`) => ({
  kind: "Secret",
  metadata: { namespace, name, annotations: PUSHED },
  data: { token: "b25l" },
});

for (const [rule, lying, flags] of [
  ["no source gives no flag", [], []],
  ["one source gives its namespace", ["shared"], ["--source-namespaces=shared"]],
  ["two give both", ["shared", "vault"], ["--source-namespaces=shared,vault"]],
] as const) {
  test(`the flags after a move: ${rule}`, async () => {
    const sources = lying.map((namespace) => sourceIn(namespace));
    const migration = await migrationOf("reflector", [...CLUSTER, ...sources]);
    assert.deepEqual(migration.problems, []);
    assert.deepEqual(migration.flags, flags);
  });
}

for (const [rule, present, lying, flag] of [
  ["new namespaces come after those of the controller", ["sys"], ["shared"], "sys,shared"],
  ["one that it has keeps its place", ["vault", "sys"], ["shared", "vault"], "vault,sys,shared"],
  ["one that a glob of it names is not added", ["sha*", "sys"], ["shared"], "sha*,sys"],
  ["a list of all names stays", ["*"], ["shared"], "*"],
  ["one that it excludes by name is not excluded any more", ["*", "!shared"], ["shared"], "*"],
  ["one of a list that only excludes is not added", ["!x"], ["shared"], "!x"],
] as const)
  test(`the flags after a move are the union, in order: ${rule}`, async () => {
    const objects = [...CLUSTER, ...lying.map((namespace) => sourceIn(namespace))];
    const settings = { ...moveSettings(), present };
    const migration = await planMove(OLD_TOOL.reflector, objects, NO_FLAGS, settings);
    assert.deepEqual(migration.problems, []);
    assert.equal(migration.flags[0], `--source-namespaces=${flag}`);
  });

test("a glob that excludes a namespace of the move is a problem", async () => {
  const objects = [...CLUSTER, sourceIn("shared")];
  const of = (present: readonly string[] | undefined) =>
    planMove(OLD_TOOL.reflector, objects, NO_FLAGS, { ...moveSettings(), present });
  const excluded = await of(["*", "!sh*"]);
  assert.match(excluded.problems.join(), /excludes shared by !sh\*: take that entry off/);
  const hidden = await of(undefined);
  assert.deepEqual(hidden.flags, ["--source-namespaces=shared"]);
  assert.match(hidden.hints.join(), /cannot be read: put its entries before the printed ones/);
});
