// Finds the workloads that run the old tool: the settings that they pass, and whether one of them can still
// write. A CronJob counts as running between its Pods.
import { isDeepStrictEqual } from "node:util";
import { orRefused, type Reading } from "./read-old-cluster.ts";
import { fields, objectsIn, textsOf, type RawFields } from "../oldtools/old-objects.ts";
import type { OldContainer } from "../oldtools/old-settings.ts";
import type { OldTool } from "../oldtools/old-tool.ts";
import type { KubeObject, Resource } from "../../../packages/kube/rest/resource.ts";

const APPS = { group: "apps", version: "v1" } as const;
const PODS: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const CRON_JOBS: Resource = {
  group: "batch",
  version: "v1",
  plural: "cronjobs",
  kind: "CronJob",
};
/** The kinds that the tools' charts create, and kinds that users may have used instead. */
const WORKLOADS: readonly Resource[] = [
  { ...APPS, plural: "deployments", kind: "Deployment" },
  { ...APPS, plural: "statefulsets", kind: "StatefulSet" },
  { ...APPS, plural: "daemonsets", kind: "DaemonSet" },
  CRON_JOBS,
];

/** A workload of the tool, and the container that runs it. */
export type OldWorkload = { readonly title: string; readonly container: OldContainer };

/** Also those that are scaled to zero. */
export async function oldWorkloads(
  { images }: OldTool,
  reading: Reading,
): Promise<readonly OldWorkload[]> {
  const found: (readonly KubeObject[])[] = [];
  for (const resource of WORKLOADS) found.push((await orRefused({ resource }, reading)) ?? []);
  return workloadsIn(found.flat(), images);
}

/** Those of `objects` that run one of `images`. */
export function workloadsIn(objects: readonly unknown[], images: RegExp): readonly OldWorkload[] {
  return objects.flatMap((raw) => {
    const { kind, metadata, spec } = fields(raw);
    if (!WORKLOADS.some((resource) => resource.kind === kind)) return [];
    const found = containersOf(podSpec(fields(spec))).find(({ image }) =>
      images.test(String(image)),
    );
    if (!found) return [];
    const { namespace, name } = fields(metadata);
    const title = `${String(kind)} ${typeof namespace === "string" ? namespace : "default"}/${String(name)}`;
    return [{ title, container: containerOf(found) }];
  });
}

/** Workloads whose settings differ from those of the first. */
export function differingWorkloads([first, ...others]: readonly OldWorkload[]): readonly string[] {
  if (!first) return [];
  const differing = others.filter(
    ({ container }) => !isDeepStrictEqual(container, first.container),
  );
  return differing.length > 0 ? [first, ...differing].map(({ title }) => title) : [];
}

// A CronJob has its Pod one level deeper.
function podSpec(spec: RawFields): RawFields {
  const jobSpec = fields(fields(spec["jobTemplate"])["spec"]);
  const { template } = spec["jobTemplate"] === undefined ? spec : jobSpec;
  return fields(fields(template)["spec"]);
}

function containerOf(container: RawFields): OldContainer {
  const variables = objectsIn(container["env"]);
  const environment = variables.flatMap(({ name, value }) =>
    typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [],
  );
  const { command, args } = container;
  return {
    words: [...(textsOf(command) ?? []), ...(textsOf(args) ?? [])],
    environment: Object.fromEntries(environment),
    hidden: variables.flatMap(({ name, valueFrom }) =>
      typeof name === "string" && valueFrom !== undefined ? [name] : [],
    ),
    hiddenNames: objectsIn(container["envFrom"]).length > 0,
  };
}

/** `title`: "Pod NAMESPACE/NAME" that runs the tool, or "CronJob NAMESPACE/NAME" that is not suspended. */
export type Running =
  | { readonly kind: "none" }
  | { readonly kind: "runs"; readonly title: string }
  /** Pods or CronJobs may not be listed. */
  | { readonly kind: "unknown" };

export async function runningWorkload({ images }: OldTool, reading: Reading): Promise<Running> {
  const live = "status.phase!=Succeeded,status.phase!=Failed";
  const pods = await orRefused({ resource: PODS, fieldSelector: live }, reading);
  const jobs = await orRefused({ resource: CRON_JOBS }, reading);
  if (!pods || !jobs) return { kind: "unknown" };
  const isOfTool = (spec: RawFields): boolean =>
    containersOf(spec).some(({ image }) => images.test(String(image)));
  const pod = pods.find(({ spec }) => isOfTool(fields(spec)));
  const job = jobs.find(({ spec }) => {
    const own = fields(spec);
    return own["suspend"] !== true && isOfTool(podSpec(own));
  });
  const [kind, found] = pod ? ["Pod", pod] : ["CronJob", job];
  if (!found) return { kind: "none" };
  const { namespace = "", name } = found.metadata;
  return { kind: "runs", title: `${kind} ${namespace}/${name}` };
}

function containersOf(spec: RawFields): readonly RawFields[] {
  return [...objectsIn(spec["initContainers"]), ...objectsIn(spec["containers"])];
}
