// Rights by name for the controller's account on the shared control plane: what `secretcast rights` prints in place
// of the rights that the manifests give it in all namespaces.
import { readConfig } from "../../../src/controller/settings/config.ts";
import { neededRights } from "../../../src/cli/rights/needed-rights.ts";
import { scopesOf } from "../../../src/cli/rights/rights-rules.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { ACCOUNT } from "./account.ts";

const ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/secretcast";
const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

let granted: Promise<void> | undefined;

/** `client`: of an administrator. The names of one file are granted once. */
export function grantNames(client: ApiClient, names: readonly string[]): Promise<void> {
  granted ??= grant(client, names);
  return granted;
}

async function grant(client: ApiClient, names: readonly string[]): Promise<void> {
  const given = { "only-names": names.join(), "config-maps": true };
  const config = readConfig(given, { env: {}, clusterNamespace: "secretcast", terminal: false });
  const cluster = scopesOf(neededRights(config)).find(({ namespace }) => namespace === undefined);
  const rules = (cluster?.rules ?? []).map(({ group, resources, names: only, verbs }) => ({
    apiGroups: [group],
    resources,
    ...(only && { resourceNames: only }),
    verbs,
  }));
  await client.request({
    method: "PATCH",
    path: ROLE,
    body: { rules },
    contentType: "application/merge-patch+json",
    what: "grant rights by name",
  });
  // The API server needs a moment to see what was granted and what was taken away.
  await eventually("the rights by name are given", async () => {
    const each = await Promise.all(names.map((name) => mayList(client, name)));
    return each.every(Boolean) && !(await mayList(client, undefined));
  });
}

async function mayList(client: ApiClient, name: string | undefined): Promise<boolean> {
  const attributes = { verb: "list", resource: "secrets", ...(name !== undefined && { name }) };
  const answer = await client.request<{ readonly status: { readonly allowed: boolean } }>({
    method: "POST",
    path: REVIEWS,
    body: { spec: { user: ACCOUNT, resourceAttributes: attributes } },
    what: "ask for rights",
  });
  return answer.status.allowed;
}
