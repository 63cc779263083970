// What a move reads of a cluster, however much it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readOldObjects } from "../../../src/migrate/command/read-old-cluster.ts";
import { tgik } from "../../../src/migrate/oldtools/tgik.ts";
import type { ApiClient, ApiRequest } from "../../../src/kube/rest/api-client.ts";
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
