// Selects a format that the client accepts and the sandbox can send: JSON, a table for kubectl, metadata
// only, or aggregated discovery. Protobuf and CBOR are skipped for the next choice in the list.
import { notAcceptable } from "../storage/status.ts";

export type Form = "object" | "table" | "metadata";

type Choice = { readonly type: string; readonly parameters: ReadonlyMap<string, string> };

const jsonTypes = new Set(["application/json", "application/*", "*/*"]);

/** The form for objects and lists. Throws a 406 when the client accepts none of the served ones. */
export function negotiate(accept: string | undefined): Form {
  for (const { type, parameters } of choices(accept)) {
    if (!jsonTypes.has(type)) continue;
    const as = parameters.get("as");
    if (as === undefined) return "object";
    const fits = parameters.get("g") === "meta.k8s.io" && parameters.get("v") === "v1";
    if (fits && as === "Table") return "table";
    if (fits && (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList"))
      return "metadata";
  }
  throw notAcceptable("application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

/** Whether the client's first acceptable choice for discovery is the aggregated one. */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  const first = choices(accept).find(
    ({ type, parameters }) =>
      jsonTypes.has(type) && (parameters.get("as") === undefined || isAggregated(parameters)),
  );
  return first !== undefined && isAggregated(first.parameters);
}

export const aggregatedDiscoveryType =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

function isAggregated(parameters: ReadonlyMap<string, string>): boolean {
  return (
    parameters.get("g") === "apidiscovery.k8s.io" &&
    parameters.get("v") === "v2" &&
    parameters.get("as") === "APIGroupDiscoveryList"
  );
}

function choices(accept: string | undefined): Choice[] {
  return (accept ?? "*/*").split(",").map((part) => {
    const [type = "", ...rest] = part.split(";").map((word) => word.trim());
    const parameters = rest.map((word): [string, string] => {
      const [key = "", value = ""] = word.split("=");
      return [key, value];
    });
    return { type, parameters: new Map(parameters) };
  });
}
