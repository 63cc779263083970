// The controller's own account on a real API server: what manifests/ gives it and nothing more, under
// the guardrail, so that whatever runs as the controller shows that the guardrail lets it.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCluster } from "./cluster.ts";
import { kubeConfigFor, kubeConfigText } from "../kube/kubeconfig-text.ts";
import type { SharedCluster } from "./cluster.ts";
import type { ClusterAccess } from "./control-plane.ts";
import { eventually } from "../time/eventually.ts";
import { field } from "./http.ts";
import { kubectlAt } from "./kubectl.ts";

const GUARDED = fileURLToPath(new URL("../../cluster/guarded", import.meta.url));
const PROBE = "/api/v1/namespaces/secretcast/secrets?dryRun=All";
const TOKEN = "/api/v1/namespaces/secretcast/serviceaccounts/secretcast/token";
/** Longer than anything runs on one control plane. */
const TOKEN_LASTS_S = 24 * 3600;

/** Its name in RBAC and in the audit log. */
export const ACCOUNT = "system:serviceaccount:secretcast:secretcast";

/**
 * Applies the manifests, or `overlay` of them under the guardrail, and answers with the path of a
 * kubeconfig of the account they make.
 */
export async function controllerAccount(access: ClusterAccess, overlay = GUARDED): Promise<string> {
  kubectlAt(access.kubeconfig, ["apply", "-k", overlay]);
  const http = openCluster(access);
  try {
    const body = { spec: { expirationSeconds: TOKEN_LASTS_S } };
    const answer = await http.send("POST", TOKEN, { body });
    const token = field(answer.body, "status", "token");
    if (typeof token !== "string") throw new Error(`no token for ${ACCOUNT}: ${answer.status}`);
    const file = join(dirname(access.kubeconfig), "controller.kubeconfig");
    writeFileSync(
      file,
      kubeConfigText(kubeConfigFor(access.url, { token }, { caFile: access.caFile })),
      { mode: 0o600 },
    );
    await eventually("the guardrail is in force", () => isGuarded(access, token));
    return file;
  } finally {
    await http.close();
  }
}

async function isGuarded(access: ClusterAccess, token: string): Promise<boolean> {
  const http = openCluster(access, token);
  try {
    const body = { metadata: { name: "probe" } };
    const answer = await http.send("POST", PROBE, { body });
    return String(field(answer.body, "message")).includes("'secretcast-guardrail'");
  } finally {
    await http.close();
  }
}

export function controllerToken({ controllerKubeconfig }: SharedCluster): string {
  const config: unknown = JSON.parse(readFileSync(controllerKubeconfig, "utf8"));
  return String(field(config, "users", 0, "user", "token"));
}
