// The tools that migrate supports.
import { clustersecret } from "./clustersecret.ts";
import { externalSecrets } from "./external/external-secrets.ts";
import { kubed } from "./kubed.ts";
import { kyverno } from "./kyverno/kyverno.ts";
import type { OldTool, OldToolName } from "./old-tool.ts";
import { projection } from "./projection/projection.ts";
import { reflector } from "./reflector.ts";
import { replicator } from "./replicator.ts";
import { tgik } from "./tgik.ts";

export const OLD_TOOL: Readonly<Record<OldToolName, OldTool>> = {
  reflector,
  replicator,
  kubed,
  clustersecret,
  kyverno,
  projection,
  "external-secrets": externalSecrets,
  tgik,
};
