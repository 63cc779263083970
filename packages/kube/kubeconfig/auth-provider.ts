// Auth providers (gcp, azure; OIDC is in oidc-provider.ts) of a kubeconfig's user, by client-node. It is loaded only by the first
// request of such a user. With its generated models it takes 44 MiB of a controller's memory and half a second
// of CPU.
import type { RequestOptions } from "node:https";
import { CredentialsError, errorCodeOf, type CredentialSource } from "./credential-source.ts";
import type { User } from "./kubeconfig-file.ts";
import { oidcProvider, type OidcOptions } from "./oidc-provider.ts";
import { isRecord } from "../json.ts";

const KNOWN: ReadonlySet<unknown> = new Set(["gcp", "azure"]);
const LIMIT_MS = 60_000;
/** A shell's exit code for a command that was not found. */
const NOT_FOUND = 127;

export function authProvider(user: User, options: OidcOptions): CredentialSource | undefined {
  const { name, authProvider } = user;
  if (!authProvider) return undefined;
  const provider = String(authProvider["name"]);
  if (provider === "oidc") return oidcProvider(user, options);
  const title = `auth provider "${provider}" of user "${name}"`;
  const loading = async () => {
    if (!KNOWN.has(provider))
      throw new CredentialsError(
        `${title} is not known: use one of oidc, ${[...KNOWN].join(", ")}`,
      );
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    // It needs a cluster, but not its values. A provider stores fetched credentials in its config, which is
    // shared on purpose: a new refresh token makes the previous one invalid.
    const cluster = { name: "any", server: "https://localhost", skipTLSVerify: false };
    config.loadFromClusterAndUser(cluster, { name, authProvider });
    return config;
  };
  let loaded: ReturnType<typeof loading> | undefined;
  return {
    title,
    limitMs: LIMIT_MS,
    prove: async () => {
      loaded ??= loading();
      const options: RequestOptions = {};
      try {
        await (await loaded).applyToHTTPSOptions(options);
      } catch (error) {
        throw error instanceof CredentialsError
          ? error
          : new CredentialsError(`${title} ${faultOf(provider, authProvider, error)}`);
      }
      return options;
    },
    forget: () => (loaded = undefined),
  };
}

// A provider's error may contain anything, so it is not passed on.
function faultOf(provider: string, { config }: NonNullable<User["authProvider"]>, error: unknown) {
  if (provider === "gcp") {
    const command = isRecord(config) ? config["cmd-path"] : undefined;
    const fix = "use the credential plugin gke-gcloud-auth-plugin, as kubectl does";
    if (typeof command !== "string" || command === "")
      return `has no access token that is valid, and no cmd-path by which to get one: ${fix}`;
    if (isNotFound(error))
      return `has no access token that is valid, and its command "${command}" was not found: ${fix}`;
  }
  return `failed (${errorCodeOf(error)}); has its token expired?`;
}

function isNotFound(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isRecord(cause) && cause["status"] === NOT_FOUND;
}
