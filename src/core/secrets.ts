import type { Digest } from "./data.ts";
import type { Secret } from "./model.ts";

export type ReadContext = {
  readonly digest: Digest;
  isSourceNamespace(namespace: string): boolean;
};

/** A Secret of the API, reduced for the cache; undefined where it is not a Secret with a name. */
export function readSecret(_raw: unknown, _context: ReadContext): Secret | undefined {
  throw new Error("readSecret: not written yet");
}
