// The tools that migrate supports.
import { clustersecret } from "./clustersecret.ts";
import { kubed } from "./kubed.ts";
import type { OldTool, OldToolName } from "./old-tool.ts";
import { reflector } from "./reflector.ts";
import { replicator } from "./replicator.ts";
import { tgik } from "./tgik.ts";

export const OLD_TOOL: Readonly<Record<OldToolName, OldTool>> = {
  reflector,
  replicator,
  kubed,
  clustersecret,
  tgik,
};
