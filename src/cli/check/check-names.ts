// Proposes --only-names: with the names that the present plan needs, the controller needs no right to read any
// other Secret.
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import type { PlanningSettings } from "../../inspect/cluster/planning-settings.ts";
import { readCluster, type ReadCluster } from "../../inspect/cluster/read-cluster.ts";
import { countObjects } from "../../inspect/requests/count-objects.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { MOST_NAMES } from "../../controller/annotations/name-scope.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { Program } from "../../run/program-context.ts";
import { finding, type CheckFinding } from "./finding.ts";

/** A plan reads every object once. */
const MOST_OBJECTS = 20_000;
const ABOUT = { area: "right", check: "rights by name" } as const;

export async function checkNames(
  client: ApiClient,
  planning: PlanningSettings,
  program: Pick<Program, "stderr" | "signal">,
): Promise<readonly CheckFinding[]> {
  const { config, settings } = planning;
  if (config.onlyNames) return [];
  const unknown = (why: string): readonly CheckFinding[] => [
    finding(ABOUT, "ok", `whether --only-names is possible is not known: ${why}`),
  ];
  try {
    for (const kind of config.kinds) {
      const count = await countObjects(client, KINDS[kind].resource, program.signal);
      if (count > MOST_OBJECTS) return unknown(`there are more than ${MOST_OBJECTS} ${kind}s`);
    }
    const flags = { selector: undefined };
    const options = { client, settings, config, fallback: [], flags, withShapes: false, program };
    const read = await readCluster(options);
    const [unread] = read.unknown;
    if (unread !== undefined) return unknown(unread);
    const { plan } = await dryPlanOf({ ...read, settings });
    return [proposal(namesOf(plan, read.clusterStates))];
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
    return unknown(causeOf(error).text);
  }
}

/** The names of all sources, copies and pulling objects. A plan has no row for a place that is current. */
function namesOf(
  { rows, sources }: Plan,
  clusterStates: ReadCluster["clusterStates"],
): readonly string[] {
  const names = new Set(sources.map(({ source }) => source.name));
  for (const { place, source } of rows) names.add(place.name).add(source.name);
  const planned = new Set(sources.map(({ uid }) => uid));
  for (const { sources: cached, pulls } of clusterStates) {
    for (const each of cached)
      if (each.role === "source" && each.rule.to && planned.has(each.uid))
        names.add(each.rule.copyName);
    for (const each of pulls)
      if (each.role === "pull" && each.from) names.add(each.name).add(each.from.name);
  }
  return [...names].toSorted();
}

/** For these names. */
export function proposal(names: readonly string[]): CheckFinding {
  if (names.length === 0) return finding(ABOUT, "ok", "no object takes part yet");
  const says = `${names.length} ${names.length === 1 ? "name takes" : "names take"} part`;
  if (names.length > MOST_NAMES) {
    const advice = "give sources of one purpose one name, in namespaces of their own";
    return finding(ABOUT, "ok", `${says}, and --only-names has at most ${MOST_NAMES}`, advice);
  }
  const flag = `--only-names ${names.join(",")}`;
  const advice = `to give up the right to read other Secrets: apply what \`secretcast rights\` prints with ${flag}, and run with it`;
  return finding(ABOUT, "ok", says, advice);
}
