// Selects a format that the client accepts and the sandbox can send: JSON, a table for kubectl, metadata
// only, or aggregated discovery. Protobuf and CBOR are skipped for the next choice in the list.
import { notAcceptable } from "../storage/status.ts";

export type Form = "object" | "table" | "metadata";

/** What a client accepts as JSON: objects as they are (`as`: undefined), or another kind of a group and version. */
type Choice = { readonly as: string | undefined; readonly of: string };

const jsonTypes = new Set(["application/json", "application/*", "*/*"]);

/** The form for objects and lists. Throws a 406 when the client accepts none of the served ones. */
export function negotiate(accept: string | undefined): Form {
  for (const { as, of } of choices(accept)) {
    if (as === undefined) return "object";
    if (of !== "meta.k8s.io/v1") continue;
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "metadata";
  }
  throw notAcceptable("application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

/** Whether the client's first acceptable choice for discovery is the aggregated one. */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  const isAggregated = ({ as, of }: Choice): boolean =>
    as === "APIGroupDiscoveryList" && of === "apidiscovery.k8s.io/v2";
  const first = choices(accept).find((each) => each.as === undefined || isAggregated(each));
  return first !== undefined && isAggregated(first);
}

export const aggregatedDiscoveryType =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

function choices(accept = "*/*"): readonly Choice[] {
  return accept.split(",").flatMap((part) => {
    const [type = "", ...rest] = part.split(";").map((word) => word.trim());
    if (!jsonTypes.has(type)) return [];
    const parameters = new Map(
      rest.map((word) => {
        const [key = "", value = ""] = word.split("=");
        return [key, value] as const;
      }),
    );
    return [{ as: parameters.get("as"), of: `${parameters.get("g")}/${parameters.get("v")}` }];
  });
}
