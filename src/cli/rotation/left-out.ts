// Copies that --namespaces or --only-names leave out. The controller does not change them any more, so each may
// have an older value for ever. Only metadata are read.
import type {
  ClusterState,
  PlannerSettings,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { objectOf, stringOf } from "../../controller/model/unstructured.ts";
import { listKept } from "../../inspect/requests/list-kept.ts";
import { withoutData } from "../../inspect/requests/without-data.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { refText, type Ref } from "../../text/names.ts";
import { sourceMarks } from "./observed-objects.ts";

export type LeftOut = {
  readonly objects: readonly Ref[];
  /** The flags leave something out, and the user may not list it. */
  readonly isUnread: boolean;
};

type LeftOutQuestion = {
  readonly client: ApiClient;
  readonly settings: Pick<PlannerSettings, "scope" | "onlyNames">;
  /** What the flags do not leave out. */
  readonly clusterState: ClusterState;
  readonly source: SourceObject;
  readonly signal: AbortSignal;
};

export async function readLeftOut(question: LeftOutQuestion): Promise<LeftOut> {
  const { client, settings, clusterState, source, signal } = question;
  if (!settings.scope && !settings.onlyNames) return { objects: [], isUnread: false };
  const scope = { resource: KINDS[clusterState.kind].resource };
  const objects = await listKept({ client: withoutData(client), scope, signal }, (raw) => {
    const { markedSource, filledBy } = sourceMarks(raw);
    if (markedSource !== refText(source) && filledBy !== source.uid) return undefined;
    const metadata = objectOf(objectOf(raw).metadata);
    const [namespace, name] = [stringOf(metadata.namespace), stringOf(metadata.name)];
    return clusterState.objectsIn(namespace).has(name) ? undefined : { namespace, name };
  });
  return objects instanceof ApiError
    ? { objects: [], isUnread: true }
    : { objects, isUnread: false };
}
