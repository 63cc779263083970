import type { Namespace } from "./model.ts";

/** A Namespace of the API, reduced for the cache; undefined where it is not one with a name. */
export function readNamespace(_raw: unknown): Namespace | undefined {
  throw new Error("readNamespace: not written yet");
}
