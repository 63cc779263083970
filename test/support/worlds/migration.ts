// What a move would make of a cluster, as the command asks it.
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import type { Migration, MoveSettings } from "../../../src/migrate/moves/migration.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import type { OldToolName } from "../../../src/migrate/oldtools/old-tool.ts";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { settingsOf } from "../planner/planner-cluster.ts";

export function moveSettings(planner: Partial<PlannerSettings> = {}, byList = false): MoveSettings {
  return {
    planner: settingsOf(planner),
    present: [],
    newSourcesIn: "secretcast",
    mayGain: () => true,
    writing: true,
    list: { namespace: "secretcast", name: "secretcast-sources" },
    byList,
    digest: createDigest(Buffer.from("a key of the tests")),
  };
}

export async function migrationOf(
  name: OldToolName,
  objects: readonly unknown[],
  flags: Readonly<Record<string, string>> = {},
  planner: Partial<PlannerSettings> = {},
): Promise<Migration> {
  const given = { flag: (flag: string) => flags[flag] };
  return planMove(OLD_TOOL[name], objects, given, moveSettings(planner));
}

/** The annotations of each source that moves, without their prefix. */
export function written({ sources }: Migration): readonly Readonly<Record<string, string>>[] {
  return sources
    .filter(({ write }) => write !== "refused")
    .map(({ annotations }) =>
      Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [
          key.replace("secretcast.io/", ""),
          value,
        ]),
      ),
    );
}
