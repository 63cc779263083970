// Estimates the size of the cluster and the memory that a controller with these settings needs. The figures
// come from docs/performance.md. It reads at most one object of each kind.
import type { Config } from "../../controller/settings/config.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import { NAMESPACES, type Resource } from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { countObjects } from "../../inspect/requests/count-objects.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import { finding, type CheckFinding } from "./finding.ts";

const MIB = 1024 * 1024;
/** docs/performance.md: RSS when idle, and the increase for each unmanaged Secret. */
const IDLE_BYTES = 80 * MIB;
const BYTES_AN_OBJECT = (63 * MIB) / 100_000;
/** manifests/deployment.yaml and the chart's default. */
const LIMIT_BYTES = 384 * MIB;

type Sized = Pick<Config, "dataCacheBytes" | "kinds"> & Partial<Pick<Config, "onlyNames">>;

export async function checkSize(
  client: ApiClient,
  { dataCacheBytes, kinds, onlyNames }: Sized,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const countOf = (resource: Resource): Promise<number | ApiError> =>
    orRefusal(countObjects(client, resource, signal));
  const namespaces = counted("namespaces", await countOf(NAMESPACES));
  const counts = await Promise.all(kinds.map((kind) => countOf(KINDS[kind].resource)));
  const findings = counts.map((found, at) => counted(`${kinds[at]}s`, found));
  let objects = 0;
  for (const found of counts) {
    if (found instanceof ApiError) return [namespaces, ...findings];
    objects += found;
  }
  // By name, no other object is read.
  return [namespaces, ...findings, expectedMemory(onlyNames ? 0 : objects, dataCacheBytes)];
}

function counted(check: string, found: number | ApiError): CheckFinding {
  const about = { area: "size", check } as const;
  return found instanceof ApiError
    ? finding(about, "unknown", `they could not be counted: ${causeOf(found).text}`)
    : finding(about, "ok", String(found));
}

/** `objects` includes Helm's releases, which are not read. The real figure is rather lower. */
export function expectedMemory(objects: number, dataCacheBytes: number): CheckFinding {
  const least = IDLE_BYTES + objects * BYTES_AN_OBJECT;
  const most = least + dataCacheBytes;
  const says = `about ${inMib(least)}, and up to ${inMib(most)} with the data of large sources (--data-cache)`;
  const about = { area: "size", check: "memory" } as const;
  if (most <= LIMIT_BYTES) return finding(about, "ok", says);
  const advice = `raise the container's memory limit from ${inMib(LIMIT_BYTES)} to ${inMib(1.5 * most)}, or lower --data-cache`;
  return finding(about, "warning", says, advice);
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}
