// What the API server says of the components' policies before any request: its type checker finds nothing wrong.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const FOLDER = fileURLToPath(new URL("../../manifests/components", import.meta.url));

const kubectl = (...words: readonly string[]): string =>
  kubectlAt(sharedCluster().kubeconfig, words);

for (const path of [
  "guardrail/policy",
  "guardrail/policy-create",
  "tenant-guard/policy",
  "early-check/policy",
])
  test(`the ${path} has no type-check warning, for Secrets and ConfigMaps`, async (t) => {
    const file = `${FOLDER}/${path}.yaml`;
    // Without its binding it judges no request.
    kubectl("apply", "-f", file);
    t.after(() => kubectl("delete", "-f", file));
    const { status } = await eventually("the policy is checked", () => {
      const policy: {
        metadata: { generation: number };
        status?: { observedGeneration?: number; typeChecking?: object };
      } = JSON.parse(kubectl("get", "-f", file, "-o", "json"));
      return policy.status?.observedGeneration === policy.metadata.generation && policy;
    });
    assert.deepEqual(status?.typeChecking, {});
  });
