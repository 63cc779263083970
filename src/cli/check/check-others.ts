// Finds other replicators in the cluster by the images of its Pods. Two replicators that write the same
// Secrets undo each other's changes.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import { PODS } from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { REPLICATORS, type Replicator } from "../../controller/annotations/replicators.ts";
import { fieldsIn, recordsIn } from "../../inspect/requests/fields.ts";
import { listKept } from "../../inspect/requests/list-kept.ts";
import { finding, type CheckFinding } from "./finding.ts";

/** The tools whose images are known. */
const TOOLS: readonly Replicator[] = Object.values<Replicator>(REPLICATORS);

const ADVICE = "let one of the two serve a Secret, never both";
// Maximum length of an image name with registry, path and tag.
const LONGEST_IMAGE = 1024;

export async function checkOthers(
  client: ApiClient,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const about = { area: "others", check: "other replicators" } as const;
  const scope = { resource: PODS, fieldSelector: "status.phase=Running" };
  const pods = await listKept({ client, scope, signal }, toolsIn);
  if (pods instanceof ApiError) {
    if (pods.kind === "notFound") return [finding(about, "ok", "this API server has no Pods")];
    const says = `Pods could not be listed: ${causeOf(pods).text}`;
    return [finding(about, "unknown", says, "look for them by the images of your Pods")];
  }
  if (pods.length === 0) return [finding(about, "ok", "none that is known runs")];
  return TOOLS.flatMap(({ title }) => {
    const running = pods.filter(({ tools }) => tools.includes(title));
    const [first] = running;
    if (!first) return [];
    const count = `${running.length} ${running.length === 1 ? "Pod" : "Pods"}`;
    const says = `${title} runs in ${count}, one in namespace ${first.namespace}`;
    return [finding({ ...about, check: `other replicators: ${title}` }, "warning", says, ADVICE)];
  });
}

type ToolPod = { readonly namespace: string; readonly tools: readonly string[] };

/** Undefined for a Pod of no known tool. */
function toolsIn(pod: unknown): ToolPod | undefined {
  const { metadata, spec } = fieldsIn(pod);
  const { namespace } = fieldsIn(metadata);
  const images = recordsIn(fieldsIn(spec)["containers"]).flatMap(({ image }) =>
    typeof image === "string" && image.length <= LONGEST_IMAGE ? [image] : [],
  );
  const tools = TOOLS.filter(({ image }) => images.some((text) => image?.test(text)));
  if (typeof namespace !== "string" || tools.length === 0) return undefined;
  return { namespace, tools: tools.map(({ title }) => title) };
}
