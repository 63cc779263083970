// ClusterSecrets: which entries of a Secret that one names are copied.
import assert from "node:assert/strict";
import { test } from "node:test";
import { namespace, plainSecret } from "../../support/worlds/custom-objects.ts";
import { migrationOf } from "../../support/worlds/migration.ts";

for (const [rule, keys, said, held] of [
  ["no keys", undefined, undefined, ["ca", "token"]],
  ["an empty list of keys", [], undefined, ["ca", "token"]],
  ["one key", ["token"], "token", ["token"]],
] as const) {
  test(`a ClusterSecret that names a Secret with ${rule} copies ${held.join(" and ")}`, async () => {
    const secretKeyRef = { namespace: "vault", name: "root", ...(keys && { keys }) };
    const { sources, problems } = await migrationOf("clustersecret", [
      namespace("vault"),
      namespace("team-a"),
      plainSecret("vault/root", { ca: "ca", token: "one" }),
      { kind: "ClusterSecret", metadata: { name: "x" }, data: { valueFrom: { secretKeyRef } } },
    ]);
    assert.deepEqual(problems, []);
    const [source] = sources;
    assert.equal(source?.write, "annotate");
    assert.equal(source.annotations["secretcast.io/keys"], said);
    assert.deepEqual(source.content?.data.keys(), held);
  });
}
