// What of a cluster's objects, or of files', a move reads at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { clustersecret } from "../../../src/migrate/oldtools/clustersecret.ts";

test("an object without a name is skipped, of every kind", () => {
  const kinds = ["Namespace", "Secret", "ConfigMap", "ClusterSecret"];
  const objects = kinds.flatMap((kind) => [
    { kind },
    { kind, metadata: {} },
    { kind, metadata: { name: "" } },
    { kind, metadata: { name: 7 } },
    { kind, metadata: { name: "x" } },
  ]);
  const { resources } = clustersecret;
  const { namespaces, secrets, others, customs } = readOldCluster(objects, undefined, resources);
  assert.deepEqual(
    [namespaces, secrets, others, customs].map((read) => read.map(({ name }) => name)),
    [["x"], ["x"], ["x"], ["x"]],
  );
});

test("each version of a tool's kind is read, in its group alone", () => {
  const resource = { group: "a.example", versions: ["v1", "v1beta1"] } as const;
  const [cluster, own] = [
    { ...resource, kind: "ClusterRule", namespaced: false },
    { ...resource, kind: "Rule", namespaced: true },
  ];
  const metadata = { name: "x", namespace: "team", uid: "u" };
  const objects = ["a.example/v1", "a.example/v1beta1", "a.example/v2", "b.example/v1"].flatMap(
    (apiVersion) => [
      { apiVersion, kind: "Rule", metadata },
      { apiVersion, kind: "ClusterRule", metadata },
    ],
  );
  const { customs } = readOldCluster(objects, undefined, [cluster, own]);
  assert.deepEqual(
    customs.map(({ kind, namespace, name }) => [kind, namespace, name]),
    [
      ["ClusterRule", undefined, "x"],
      ["ClusterRule", undefined, "x"],
      ["Rule", "team", "x"],
      ["Rule", "team", "x"],
    ],
  );
});
