// A source of a user's credentials outside the kubeconfig: an exec plugin or an auth provider.
import type { RequestOptions } from "node:https";

/** Why no credentials are available. Its message names the source and contains nothing read from it. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** An Authorization header, a client certificate or both. */
export type Proof = Pick<RequestOptions, "headers" | "cert" | "key"> & {
  /** By the wall clock. Absent: unknown. */
  readonly expiresAt?: number;
};

export type CredentialSource = {
  /** For users: credential plugin "get-token" of user "jane". */
  readonly title: string;
  /** How long it may take. Longer than a request, if a user has to answer. */
  readonly limitMs: number;
  /** Fails with a CredentialsError, or with an error of its own that may contain anything. */
  readonly prove: () => Promise<Proof>;
  /** The server refused the credentials that it keeps. */
  readonly forget: () => void;
};

/** All that may be told of an error of another program's making. */
export function errorCodeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "no code";
}
