// What of a cluster's objects, or of files', a move reads at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readOldCluster } from "../../../src/migrate/oldtools/old-objects.ts";

test("what has no name is passed over, of every kind, and what has one is read", () => {
  const kinds = ["Namespace", "Secret", "ConfigMap", "ClusterSecret"];
  const objects = kinds.flatMap((kind) => [
    { kind },
    { kind, metadata: {} },
    { kind, metadata: { name: "" } },
    { kind, metadata: { name: 7 } },
    { kind, metadata: { name: "x" } },
  ]);
  const { namespaces, secrets, others, clusterSecrets } = readOldCluster(objects, undefined);
  assert.deepEqual(
    [namespaces, secrets, others, clusterSecrets].map((read) => read.map(({ name }) => name)),
    [["x"], ["x"], ["x"], ["x"]],
  );
});
