// Finds other replicators in the cluster by the images of its Pods. Two replicators that write the same
// Secrets undo each other's changes.
import { listAll } from "../../kube/cache/list.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import { PODS } from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isRecord } from "../../kube/json.ts";
import { REPLICATORS, type Replicator } from "../../controller/annotations/replicators.ts";
import type { CheckFinding } from "./finding.ts";

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
  let found = new Map<string, { pods: number; readonly where: string }>();
  try {
    await listAll({
      client,
      scope: { resource: PODS, fieldSelector: "status.phase=Running" },
      signal,
      onPage: (items) => {
        for (const item of items) count(item, found);
      },
      onRestart: () => {
        found = new Map();
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === "notFound")
      return [{ ...about, state: "ok", says: "this API server has no Pods", advice: undefined }];
    if (error.kind !== "forbidden") throw error;
    const says = `Pods could not be listed: ${causeOf(error).text}`;
    return [
      { ...about, state: "unknown", says, advice: "look for them by the images of your Pods" },
    ];
  }
  if (found.size === 0)
    return [{ ...about, state: "ok", says: "none that is known runs", advice: undefined }];
  return TOOLS.flatMap(({ title: tool }) => {
    const seen = found.get(tool);
    if (!seen) return [];
    const says = `${tool} runs in ${seen.pods} ${seen.pods === 1 ? "Pod" : "Pods"}, one in namespace ${seen.where}`;
    return [
      {
        ...about,
        check: `other replicators: ${tool}`,
        state: "warning" as const,
        says,
        advice: ADVICE,
      },
    ];
  });
}

function count(pod: unknown, into: Map<string, { pods: number; readonly where: string }>): void {
  if (!isRecord(pod) || !isRecord(pod["spec"]) || !isRecord(pod["metadata"])) return;
  const { namespace } = pod["metadata"];
  const containers: unknown = pod["spec"]["containers"];
  if (!Array.isArray(containers) || typeof namespace !== "string") return;
  const images = containers.flatMap((each: unknown) => {
    const image = isRecord(each) ? each["image"] : undefined;
    return typeof image === "string" && image.length <= LONGEST_IMAGE ? [image] : [];
  });
  for (const { title: tool, image } of TOOLS) {
    if (!image || !images.some((text) => image.test(text))) continue;
    const seen = into.get(tool);
    if (seen) seen.pods++;
    else into.set(tool, { pods: 1, where: namespace });
  }
}
