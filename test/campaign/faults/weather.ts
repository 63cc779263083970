// What a script's faults are to one request, and what its flags are to a controller: the same on every
// stage that a script is played on.
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import type { RequestFault } from "../../support/controller/faulty-client.ts";
import { OWN_NAMESPACE } from "../actors/actors.ts";
import type { Circumstance, FlagSet } from "../scripts/script.ts";

/** `until`: by the monotonic clock. */
export type Weather = {
  readonly fault: Extract<Circumstance, { kind: "requests" }>["fault"];
  readonly likelihood: number;
  readonly until: number;
};

/** What becomes of a request in this weather; undefined: it is let through. */
export function faultOf(
  { fault, likelihood }: Weather,
  { method }: ApiRequest,
  chance: () => number,
): RequestFault | undefined {
  if (chance() >= likelihood) return undefined;
  switch (fault) {
    case "429":
      return { kind: "refuse", status: 429, retryAfterMs: 1000 + 1000 * chance() };
    case "409":
      return method === "GET" ? undefined : { kind: "refuse", status: 409 };
    case "403":
    case "500":
    case "503":
      return { kind: "refuse", status: Number(fault) };
    case "slow":
      return { kind: "slow", ms: 4000 * chance() };
    case "lost":
    case "hang":
    case "away":
      return { kind: fault };
  }
}

export function valuesOf(flags: FlagSet): FlagValues {
  const { sourceNamespaces, policy, exclude, includeSystem, namespaces, copyable } = flags;
  return {
    "source-namespaces": sourceNamespaces,
    ...(policy !== undefined && { "namespace-policy": policy }),
    ...(exclude !== "" && { "exclude-namespaces": exclude }),
    ...(namespaces !== "" && { namespaces }),
    ...(copyable !== "" && { "copyable-keys": copyable }),
    "include-system-namespaces": includeSystem,
    "config-maps": flags.configMaps,
    ...(flags.holdsCreates === true && { "fanout-limit": "1" }),
    "lease-namespace": OWN_NAMESPACE,
  };
}
