// What a move reads of a cluster, however much it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCustoms, readOldObjects } from "../../../src/migrate/command/read-old-cluster.ts";
import { kyverno } from "../../../src/migrate/oldtools/kyverno/kyverno.ts";
import { tgik } from "../../../src/migrate/oldtools/tgik.ts";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { listBody } from "../../support/api-server/list-body.ts";

const KINDS: Readonly<Record<string, string>> = {
  namespaces: "Namespace",
  secrets: "Secret",
  configmaps: "ConfigMap",
  serviceaccounts: "ServiceAccount",
  roles: "Role",
  rolebindings: "RoleBinding",
};

function listing(count: number): ApiClient {
  const one = { metadata: { name: "a", namespace: "b", uid: "u", resourceVersion: "1" } };
  const request = ({ path }: ApiRequest): Promise<unknown> => {
    const plural = path.slice(path.lastIndexOf("/") + 1);
    const items = plural === "namespaces" ? [] : Array.from({ length: count }, () => one);
    return Promise.resolve(listBody("v1", KINDS[plural] ?? "", items));
  };
  return { request } as unknown as ApiClient;
}

test("a cluster of 200,000 objects of a kind is read whole", async () => {
  const { signal } = new AbortController();
  const client = listing(200_000);
  const { objects, unread } = await readOldObjects(tgik, {
    client,
    signal,
    onRead: () => undefined,
  });
  assert.equal(objects.length, 5 * 200_000);
  assert.deepEqual(unread, []);
});

const RULES = { group: "a.example", versions: ["v1", "v1beta1"], kind: "Rule" };

for (const [served, status, count, unread] of [
  ["v1", 404, 1, []],
  ["v1beta1", 404, 1, []],
  ["v1alpha1", 404, 0, []],
  ["v1alpha1", 403, 0, ["rules.a.example: may not be listed"]],
] as const) {
  test(`rules of the tool that are served as ${served}, other versions answering ${status}: ${count} read`, async () => {
    const one = { metadata: { name: "a", uid: "u", resourceVersion: "1" } };
    const request = ({ path, what }: ApiRequest): Promise<unknown> => {
      if (path.startsWith(`/apis/a.example/${served}/rules`))
        return Promise.resolve(listBody(`a.example/${served}`, "Rule", [one]));
      const kind = status === 404 ? "notFound" : "forbidden";
      throw new ApiError(what, { kind, status, reason: "Test" });
    };
    const client = { request } as unknown as ApiClient;
    const { signal } = new AbortController();
    const resources = [{ ...RULES, namespaced: false }];
    const read = await readCustoms(resources, { client, signal, onRead: () => undefined });
    const { customs } = readOldCluster(read.objects, undefined, resources);
    assert.deepEqual([customs.length, read.unread], [count, unread]);
  });
}

for (const [tool, unread] of [
  [kyverno, ["ConfigMaps in b: may not be listed"]],
  [tgik, ["configmaps: may not be listed, so that none are counted"]],
] as const) {
  test(`ConfigMaps that may be listed in some namespaces count only when ${tool.name} copies them`, async () => {
    const request = ({ path, what }: ApiRequest): Promise<unknown> => {
      const plain = path.replace(/\?.*/, "");
      const named = (name: string): object => ({ name, uid: name, resourceVersion: "1" });
      if (plain === "/api/v1/namespaces")
        return Promise.resolve(
          listBody("v1", "Namespace", [{ metadata: named("a") }, { metadata: named("b") }]),
        );
      if (plain === "/api/v1/namespaces/a/configmaps")
        return Promise.resolve(
          listBody("v1", "ConfigMap", [{ metadata: { ...named("own"), namespace: "a" } }]),
        );
      const isForbidden = plain.endsWith("/configmaps");
      const kind = KINDS[plain.slice(plain.lastIndexOf("/") + 1)];
      if (!isForbidden && kind !== undefined) return Promise.resolve(listBody("v1", kind, []));
      if (!isForbidden) throw new ApiError(what, { kind: "notFound", status: 404, reason: "Test" });
      throw new ApiError(what, { kind: "forbidden", status: 403, reason: "Forbidden" });
    };
    const client = { request } as unknown as ApiClient;
    const { signal } = new AbortController();
    const read = await readOldObjects(tool, { client, signal, onRead: () => undefined });
    assert.deepEqual(read.unread, unread);
    const { others } = readOldCluster(read.objects, undefined, []);
    assert.deepEqual(
      others.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`),
      tool === kyverno ? ["ConfigMap a/own"] : [],
    );
  });
}
