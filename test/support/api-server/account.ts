// The controller's own account on a real API server: what manifests/ gives it and nothing more, under
// the guardrail, so that whatever runs as the controller shows that the guardrail lets it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openCluster } from "./cluster.ts";
import type { SharedCluster } from "./cluster.ts";
import type { ClusterAccess } from "./control-plane.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { kubectlAt } from "./kubectl.ts";
import { serviceAccountKubeconfig } from "./service-account.ts";

const GUARDED = fileURLToPath(new URL("../../cluster/guarded", import.meta.url));
const PROBE = "/api/v1/namespaces/secretcast/secrets?dryRun=All";

/** Its name in RBAC and in the audit log. */
export const ACCOUNT = "system:serviceaccount:secretcast:secretcast";

/**
 * Applies the manifests, or `overlay` of them under the guardrail, and answers with the path of a
 * kubeconfig of the account they make.
 */
export async function controllerAccount(access: ClusterAccess, overlay = GUARDED): Promise<string> {
  kubectlAt(access.kubeconfig, ["apply", "-k", overlay]);
  const account = { namespace: "secretcast", name: "secretcast" };
  const controllerKubeconfig = await serviceAccountKubeconfig(access, account);
  const token = controllerToken({ controllerKubeconfig });
  await eventually("the guardrail is in force", () => isGuarded(access, token));
  return controllerKubeconfig;
}

async function isGuarded(access: ClusterAccess, token: string): Promise<boolean> {
  const http = openCluster(access, token);
  try {
    const body = { metadata: { name: "probe" } };
    const answer = await http.send("POST", PROBE, { body });
    return String(field(answer.body, "message")).includes("'secretcast-guardrail-create'");
  } finally {
    await http.close();
  }
}

export function controllerToken({
  controllerKubeconfig,
}: Pick<SharedCluster, "controllerKubeconfig">): string {
  const config: unknown = JSON.parse(readFileSync(controllerKubeconfig, "utf8"));
  return String(field(config, "users", 0, "user", "token"));
}
