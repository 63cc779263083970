// What gives a user's credentials beside the kubeconfig itself: an exec plugin, or an auth provider.
import type { RequestOptions } from "node:https";

/** Why no credentials could be had; its message names the source and holds nothing read from it. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** An Authorization header, a client certificate or both. */
export type Proof = Pick<RequestOptions, "headers" | "cert" | "key"> & {
  /** By the wall clock; absent: not known. */
  readonly expiresAt?: number;
};

export type CredentialSource = {
  /** For people: credential plugin "get-token" of user "jane". */
  readonly title: string;
  /** How long it may take; longer than a request, where a user has to answer. */
  readonly limitMs: number;
  /** Fails with a CredentialsError, or with an error of its own, which may hold anything. */
  readonly prove: () => Promise<Proof>;
  /** What it has kept was refused. */
  readonly forget: () => void;
};
