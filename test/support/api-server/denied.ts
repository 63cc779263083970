// Namespaces that take no new Secret, in the two ways of real clusters: a full quota, and an admission
// check that says no. On a real API server with a ResourceQuota and a ValidatingAdmissionPolicy; the
// sandbox has neither and answers as such servers do.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { Sandbox } from "../../../packages/sandbox/server.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import type { Scene } from "../scenes/scene.ts";

export type Denied = {
  /** Creates are answered as usual from here on. Without it only these two namespaces stay so. */
  lift(): Promise<void>;
};

export async function denyBoth(scene: Scene, full: string, checked: string): Promise<Denied> {
  const { plural } = scene.api.resource;
  if (scene.sandbox) return denyOnSandbox(scene.sandbox, plural, full, checked);
  const path = "/apis/admissionregistration.k8s.io/v1";
  const made: string[] = [];
  const make = async (collection: string, body: Body): Promise<void> => {
    const { client } = scene.api;
    const what = `create ${collection}`;
    await client.request({ method: "POST", path: collection, body, what });
    made.push(`${collection}/${body.metadata.name}`);
  };
  await make(`/api/v1/namespaces/${full}/resourcequotas`, quota(plural));
  await scene.api.client.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${full}/resourcequotas/full/status`,
    contentType: "application/merge-patch+json",
    body: { status: counted(plural) },
    what: "count the quota",
  });
  await make(`${path}/validatingadmissionpolicies`, policy(checked, plural));
  await make(`${path}/validatingadmissionpolicybindings`, binding(checked));
  for (const namespace of [full, checked])
    await eventually(`${namespace} refuses Secrets`, () => refuses(scene, namespace));
  return {
    lift: async () => {
      for (const one of made)
        await scene.api.client.request({ method: "DELETE", path: one, what: `delete ${one}` });
      for (const namespace of [full, checked])
        await eventually(
          `${namespace} takes Secrets`,
          async () => !(await refuses(scene, namespace)),
        );
    },
  };
}

type Body = { readonly metadata: { readonly name: string }; readonly [field: string]: unknown };

// No controller counts quotas here, and admission goes by what was counted.
const counted = (plural: string) => ({ hard: { [plural]: "0" }, used: { [plural]: "0" } });
const quota = (plural: string): Body => ({
  metadata: { name: "full" },
  spec: { hard: { [plural]: "0" } },
});

function policy(name: string, plural: string): Body {
  const rule = {
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["CREATE"],
    resources: [plural],
  };
  return {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "false", message: "not here" }],
    },
  };
}

function binding(name: string): Body {
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": name } };
  return {
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"], matchResources: { namespaceSelector } },
  };
}

async function refuses({ api, collection }: Scene, namespace: string): Promise<boolean> {
  try {
    await api.client.request({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}${collection}`,
      query: { dryRun: "All" },
      body: { metadata: { name: "probe" } },
      what: "probe",
    });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return true;
    throw error;
  }
}

function denyOnSandbox(sandbox: Sandbox, plural: string, full: string, checked: string): Denied {
  const status = (code: number, message: string, reason?: string) => ({
    status: code,
    body: {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code,
      message,
      ...(reason && { reason }),
    },
  });
  const exceeded = `${plural} "registry" is forbidden: exceeded quota: full, requested: ${plural}=1, used: ${plural}=0, limited: ${plural}=0`;
  const answers = new Map([
    [full, status(403, exceeded, "Forbidden")],
    [checked, status(400, `admission webhook "check.example.com" denied the request: not here`)],
  ]);
  sandbox.beforeRequest = ({ method, path }) =>
    method === "POST" && path.endsWith(`/${plural}`)
      ? answers.get(path.split("/")[4] ?? "")
      : undefined;
  return {
    lift: async () => {
      sandbox.beforeRequest = undefined;
    },
  };
}
