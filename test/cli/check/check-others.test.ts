import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOthers } from "../../../src/cli/check/check-others.ts";
import { REPLICATORS, type Replicator } from "../../../src/controller/annotations/replicators.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";

const { signal } = new AbortController();

function pods(...images: readonly string[]): readonly [number, Json] {
  const items = images.map((image, at) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `p${at}`, namespace: `n${at}`, uid: `u${at}`, resourceVersion: "1" },
    spec: { containers: [{ image: "example.com/sidecar:1" }, { image }] },
  }));
  return [200, { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items }];
}

test("each replicator is known by its published images, and no other is", () => {
  const known: readonly (readonly [string, string])[] = [
    ["emberstack/kubernetes-reflector:9.1.2", "Reflector"],
    ["quay.io/mittwald/kubernetes-replicator:v2.12.0", "kubernetes-replicator"],
    ["appscode/kubed:v0.13.2", "Config Syncer (kubed)"],
    ["ghcr.io/appscode/config-syncer:v0.15.2@sha256:00", "Config Syncer (kubed)"],
    ["quay.io/clustersecret/clustersecret:0.0.12", "ClusterSecret"],
    ["ghcr.io/alexellis/registry-creds:0.3.2", "registry-creds"],
    ["quay.io/titansoft/imagepullsecret-patcher:v0.14", "imagepullsecret-patcher"],
    ["gcr.io/k8s-staging-multitenancy/hnc-manager:v1.1.0", "HNC"],
  ];
  const toolOf = (image: string) =>
    Object.values<Replicator>(REPLICATORS).find((each) => each.image?.test(image) === true)?.title;
  for (const [image, tool] of known) assert.equal(toolOf(image), tool, image);
  for (const image of [
    "secretcast:0.1.0",
    "nginx",
    "example.com/kubed-exporter",
    "my/clustersecrets",
  ])
    assert.equal(toolOf(image), undefined, image);
});

test("those that run are counted by tool, each with a namespace and what to do", async (t) => {
  const { client } = await checkedServer(t, () =>
    pods(
      "emberstack/kubernetes-reflector:1",
      "nginx",
      "mirror/kubernetes-reflector:2",
      "x/hnc-manager:1",
    ),
  );
  assert.deepEqual(
    (await checkOthers(client, signal)).map(
      ({ state, says, advice }) => `${state}: ${says}: ${advice}`,
    ),
    [
      "warning: Reflector runs in 2 Pods, one in namespace n0: let one of the two serve a Secret, never both",
      "warning: HNC runs in 1 Pod, one in namespace n3: let one of the two serve a Secret, never both",
    ],
  );
});

test("none, no Pods at all, and no right to see them", async (t) => {
  const none = await checkedServer(t, () => pods("nginx"));
  const bare = await checkedServer(t);
  const denied = await checkedServer(t, () => forbidden("list", "pods"));
  const reported = await Promise.all(
    [none, bare, denied].map(async ({ client }) => {
      const [finding] = await checkOthers(client, signal);
      return `${finding?.state}: ${finding?.says}`;
    }),
  );
  assert.deepEqual(reported, [
    "ok: none that is known runs",
    "ok: this API server has no Pods",
    "unknown: Pods could not be listed: no right to list pods",
  ]);
});

test("what is no Pod, or no image, is passed over", async (t) => {
  const odd = { metadata: { name: "x", uid: "u", resourceVersion: "1" }, spec: { containers: 3 } };
  const metadata = { ...odd.metadata, namespace: "n" };
  const longImage = {
    metadata,
    spec: { containers: [{ image: `x/kubed:${"a".repeat(5000)}` }, 7] },
  };
  const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" } };
  const { client } = await checkedServer(t, () => [200, { ...list, items: [odd, longImage] }]);
  assert.equal((await checkOthers(client, signal))[0]?.state, "ok");
});
