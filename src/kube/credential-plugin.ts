// Exec plugins and auth providers (OIDC, gcp, azure) of a kubeconfig's user, run by client-node. It is
// loaded by the first request of such a user and of no other: with its generated models it takes 44 MiB
// of a controller's memory and half a second of CPU.
import type { RequestOptions } from "node:https";
import type { User } from "./kubeconfig-file.ts";

/** An Authorization header, a client certificate, or both. */
export type Proof = {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: { readonly cert?: Buffer | string; readonly key?: Buffer | string };
};

/** Fails with the plugin's own error, which may hold anything; a proof may be one that it has kept. */
export type CredentialPlugin = () => Promise<Proof>;

/** A new one has nothing kept, and asks anew. */
export function credentialPlugin(user: User): CredentialPlugin | undefined {
  if (!user.exec && !user.authProvider) return undefined;
  const { name, exec, authProvider } = user;
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
    return proofOf(options);
  };
}

function proofOf({ headers = {}, cert, key }: RequestOptions): Proof {
  return {
    headers: Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [header, String(value)]),
    ),
    tls: { ...(isMaterial(cert) && { cert }), ...(isMaterial(key) && { key }) },
  };
}

function isMaterial(value: unknown): value is Buffer | string {
  return typeof value === "string" || Buffer.isBuffer(value);
}
