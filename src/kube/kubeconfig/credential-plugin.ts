// Exec plugins and auth providers (OIDC, gcp, azure) of a kubeconfig's user, run by client-node. It is
// loaded by the first request of such a user and of no other: with its generated models it takes 44 MiB
// of a controller's memory and half a second of CPU.
import type { RequestOptions } from "node:https";
import type { User } from "./kubeconfig-file.ts";

/**
 * Answers with an Authorization header, a client certificate or both, perhaps ones that it has kept.
 * Fails with the plugin's own error, which may hold anything.
 */
export type CredentialPlugin = () => Promise<Pick<RequestOptions, "headers" | "cert" | "key">>;

/** A new one has nothing kept, and asks anew. */
export function credentialPlugin({ name, exec, authProvider }: User): CredentialPlugin | undefined {
  if (!exec && !authProvider) return undefined;
  const loading = async () => {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    // Of the cluster it needs only that there is one. A provider puts what it has fetched into its
    // config, which all share on purpose: what a new refresh token replaces is good no more.
    const cluster = { name: "any", server: "https://localhost", skipTLSVerify: false };
    config.loadFromClusterAndUser(cluster, { name, exec, authProvider });
    return config;
  };
  let loaded: ReturnType<typeof loading> | undefined;
  return async () => {
    loaded ??= loading();
    const options: RequestOptions = {};
    await (await loaded).applyToHTTPSOptions(options);
    return options;
  };
}
