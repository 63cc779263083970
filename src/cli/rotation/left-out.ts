// Copies that --namespaces or --only-names leave out. The controller does not change them any more, so each may
// have an older value for ever. Only metadata are read.
import type {
  ClusterState,
  PlannerSettings,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { objectOf } from "../../controller/model/unstructured.ts";
import { withoutData } from "../../inspect/cluster/without-data.ts";
import { listAll } from "../../kube/cache/list.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { refText, type Ref } from "../../text/names.ts";
import { sourceMarks } from "./observed-objects.ts";

export type LeftOut = {
  readonly objects: readonly Ref[];
  /** The flags leave something out, and the user may not list it. */
  readonly isUnread: boolean;
};

export type LeftOutQuestion = {
  readonly client: ApiClient;
  readonly settings: Pick<PlannerSettings, "scope" | "onlyNames">;
  /** What the flags do not leave out. */
  readonly clusterState: ClusterState;
  readonly source: SourceObject;
  readonly signal: AbortSignal;
};

export async function readLeftOut({
  client,
  settings,
  clusterState,
  source,
  signal,
}: LeftOutQuestion): Promise<LeftOut> {
  let objects: Ref[] = [];
  if (!settings.scope && !settings.onlyNames) return { objects, isUnread: false };
  const add = (raw: unknown): void => {
    const { markedSource, filledBy } = sourceMarks(raw);
    if (markedSource !== refText(source) && filledBy !== source.uid) return;
    const { namespace, name } = objectOf(objectOf(raw).metadata);
    if (typeof namespace !== "string" || typeof name !== "string") return;
    if (!clusterState.objectsIn(namespace).has(name)) objects.push({ namespace, name });
  };
  try {
    await listAll({
      client: withoutData(client),
      scope: { resource: KINDS[clusterState.kind].resource },
      signal,
      onPage: (items) => {
        for (const item of items) add(item);
      },
      onRestart: () => {
        objects = [];
      },
    });
    return { objects, isUnread: false };
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
    return { objects: [], isUnread: true };
  }
}
