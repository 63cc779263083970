import type { Action } from "./verdicts.ts";

/** One call of the API that an action needs; an action's calls are made in order. */
export type SecretRequest = {
  readonly method: "POST" | "PATCH" | "DELETE" | "GET";
  readonly namespace: string;
  readonly name: string;
  /** Only for PATCH. */
  readonly contentType?: "application/merge-patch+json";
  readonly body?: Readonly<Record<string, unknown>>;
};

export function requestsFor(_action: Action): readonly SecretRequest[] {
  throw new Error("requestsFor: not written yet");
}
