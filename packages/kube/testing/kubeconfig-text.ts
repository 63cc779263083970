// A kubeconfig for a server on loopback, in memory or in a file.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster, User } from "../kubeconfig/kubeconfig-file.ts";
import type { KubeConfig } from "../kubeconfig/kubeconfig.ts";
import type { Ending } from "./fault-proxy.ts";
import { folderOf } from "./folder.ts";

export function kubeConfigFor(
  server: string,
  user: Partial<User> = {},
  cluster: Partial<Cluster> = {},
): KubeConfig {
  return { cluster: { name: "test", server, ...cluster }, user: { name: "tester", ...user } };
}

/** As a file holds it; JSON is YAML. */
export function kubeConfigText({ cluster, user }: KubeConfig): string {
  const { name } = cluster;
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: user.name } }],
    clusters: [
      {
        name,
        cluster: {
          server: cluster.server,
          "certificate-authority": cluster.caFile,
          "certificate-authority-data": cluster.caData,
          "insecure-skip-tls-verify": cluster.skipTLSVerify,
          "tls-server-name": cluster.tlsServerName,
          "proxy-url": cluster.proxyUrl,
        },
      },
    ],
    users: [
      {
        name: user.name,
        user: {
          token: user.token,
          tokenFile: user.tokenFile,
          username: user.username,
          password: user.password,
          "client-certificate": user.certFile,
          "client-certificate-data": user.certData,
          "client-key": user.keyFile,
          "client-key-data": user.keyData,
          as: user.impersonateUser,
          "as-uid": user.impersonateUid,
          "as-groups": user.impersonateGroups,
          "as-user-extra": user.impersonateExtra,
          exec: user.exec,
          "auth-provider": user.authProvider,
        },
      },
    ],
  });
}

/** The path of a file with it, which is deleted when the test, or whatever it is for, has ended. */
export function kubeConfigFile(t: Ending, config: KubeConfig): string {
  return writtenFile(t, kubeConfigText(config));
}

/** The same with a text of the test's own. */
export function writtenFile(t: Ending, text: string): string {
  const folder = folderOf(t);
  const path = join(folder, "config");
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
