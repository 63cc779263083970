// Plans a move from objects of a cluster or of files.
import { matchPatterns } from "./match-patterns.ts";
import { planMigration, type Migration, type MoveSettings } from "../moves/migration.ts";
import { accessKey, type OldAccess } from "../oldtools/old-objects.ts";
import { readOldCluster } from "../oldtools/read-old-objects.ts";
import type { OldFlags } from "../oldtools/old-settings.ts";
import { patternsOf, type OldTool } from "../oldtools/old-tool.ts";

/** `mayRead` asks the API server. Without it, no right proves anything. */
export async function planMove(
  tool: OldTool,
  objects: Iterable<unknown>,
  flags: OldFlags,
  settings: MoveSettings,
  mayRead?: (access: OldAccess) => Promise<boolean>,
): Promise<Migration> {
  const resources = [...tool.resources, ...(tool.traces ?? [])];
  const read = readOldCluster(objects, settings.list, resources);
  const readable = new Set<string>();
  const accesses = mayRead ? (tool.accesses?.(read) ?? []) : [];
  for (const [key, access] of new Map(accesses.map((one) => [accessKey(one), one])))
    if ((await mayRead?.(access)) === true) readable.add(key);
  const cluster = { ...read, readable };
  const reading = tool.read(cluster, flags);
  const names = cluster.namespaces.map(({ name }) => name);
  const answers = await matchPatterns(patternsOf(reading), names);
  return planMigration(tool, cluster, reading, answers, settings);
}
