// Estimates the size of the cluster and the memory that a controller with these settings needs. The figures
// come from docs/performance.md. It reads at most one object of each kind.
import type { Config } from "../../controller/settings/config.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import { NAMESPACES, type Resource } from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { countObjects } from "../../inspect/requests/count-objects.ts";
import type { CheckFinding } from "./finding.ts";

const MIB = 1024 * 1024;
/** docs/performance.md: RSS when idle, and the increase for each unmanaged Secret. */
const IDLE_BYTES = 80 * MIB;
const BYTES_AN_OBJECT = (63 * MIB) / 100_000;
/** manifests/deployment.yaml and the chart's default. */
const LIMIT_BYTES = 384 * MIB;

type Counted = { readonly count: number } | { readonly why: string };

type Sized = Pick<Config, "dataCacheBytes" | "kinds"> & Partial<Pick<Config, "onlyNames">>;

export async function checkSize(
  client: ApiClient,
  { dataCacheBytes, kinds, onlyNames }: Sized,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const namespaces = counted("namespaces", await countOf(client, NAMESPACES, signal));
  const counts = await Promise.all(
    kinds.map((kind) => countOf(client, KINDS[kind].resource, signal)),
  );
  const findings = counts.map((found, at) => counted(`${kinds[at]}s`, found));
  let objects = 0;
  for (const found of counts) {
    if ("why" in found) return [namespaces, ...findings];
    objects += found.count;
  }
  // By name, no other object is read.
  return [namespaces, ...findings, expectedMemory(onlyNames ? 0 : objects, dataCacheBytes)];
}

function counted(check: string, found: Counted): CheckFinding {
  const about = { area: "size", check } as const;
  if ("why" in found)
    return {
      ...about,
      state: "unknown",
      says: `they could not be counted: ${found.why}`,
      advice: undefined,
    };
  return { ...about, state: "ok", says: String(found.count), advice: undefined };
}

/** `objects` includes Helm's releases, which are not read. The real figure is rather lower. */
export function expectedMemory(objects: number, dataCacheBytes: number): CheckFinding {
  const least = IDLE_BYTES + objects * BYTES_AN_OBJECT;
  const most = least + dataCacheBytes;
  const says = `about ${inMib(least)}, and up to ${inMib(most)} with the data of large sources (--data-cache)`;
  const about = { area: "size", check: "memory" } as const;
  if (most <= LIMIT_BYTES) return { ...about, state: "ok", says, advice: undefined };
  const advice = `raise the container's memory limit from ${inMib(LIMIT_BYTES)} to ${inMib(1.5 * most)}, or lower --data-cache`;
  return { ...about, state: "warning", says, advice };
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

async function countOf(
  client: ApiClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<Counted> {
  try {
    return { count: await countObjects(client, resource, signal) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
    return { why: causeOf(error).text };
  }
}
