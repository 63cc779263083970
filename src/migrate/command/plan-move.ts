// Plans a move from objects of a cluster or of files.
import { matchPatterns } from "./match-patterns.ts";
import { planMigration, type Migration, type MoveSettings } from "../moves/migration.ts";
import { readOldCluster } from "../oldtools/read-old-objects.ts";
import type { OldFlags } from "../oldtools/old-settings.ts";
import { patternsOf, type OldTool } from "../oldtools/old-tool.ts";

export async function planMove(
  tool: OldTool,
  objects: Iterable<unknown>,
  flags: OldFlags,
  settings: MoveSettings,
): Promise<Migration> {
  const resources = [...tool.resources, ...(tool.traces ?? [])];
  const cluster = readOldCluster(objects, settings.list, resources);
  const reading = tool.read(cluster, flags);
  const names = cluster.namespaces.map(({ name }) => name);
  const answers = await matchPatterns(patternsOf(reading), names);
  return planMigration(tool, cluster, reading, answers, settings);
}
