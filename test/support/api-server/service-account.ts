// A service account's own way to the API server, as a pod of it has: a token and the certificate.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kubeConfigFor, kubeConfigText } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { openCluster } from "./cluster.ts";
import type { ClusterAccess } from "./control-plane.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";

/** Longer than anything runs on one control plane. */
const TOKEN_LASTS_S = 24 * 3600;

/** The path of a kubeconfig of the account, which must be there; its folder goes with the cluster. */
export async function serviceAccountKubeconfig(
  access: ClusterAccess,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const http = openCluster(access);
  try {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const answer = await http.send("POST", path, {
      body: { spec: { expirationSeconds: TOKEN_LASTS_S } },
    });
    const token = field(answer.body, "status", "token");
    if (typeof token !== "string")
      throw new Error(`no token for ${namespace}/${name}: ${answer.status}`);
    const file = join(dirname(access.kubeconfig), `${namespace}-${name}.kubeconfig`);
    const config = kubeConfigFor(access.url, { token }, { caFile: access.caFile });
    writeFileSync(file, kubeConfigText(config), { mode: 0o600 });
    return file;
  } finally {
    await http.close();
  }
}
