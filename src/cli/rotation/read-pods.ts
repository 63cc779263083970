// Reads Pods in pages and keeps of each only what a rotation asks for. Where the whole cluster may not be
// listed, the namespaces that matter are listed one by one. A namespace that may not be listed is reported and
// never treated as empty.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { mapAtOnce } from "../../inspect/requests/at-once.ts";
import { listKept } from "../../inspect/requests/list-kept.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { PODS } from "../../../packages/kube/rest/resource.ts";
import type { PodsAsRead } from "../holding/revocation.ts";
import type { UsingPod } from "../holding/using-pod.ts";
import { readPod, type Asked } from "./read-pod.ts";

export type PodQuestion = {
  readonly client: ApiClient;
  readonly kind: ObjectKind;
  readonly asked: Asked;
  /** Whose Pods must be known. */
  readonly namespaces: ReadonlySet<string>;
  readonly signal: AbortSignal;
};

const AT_ONCE = 8;

export async function readPods(question: PodQuestion): Promise<PodsAsRead> {
  const all = await list(question, undefined);
  if (all) return { pods: all, unread: new Set() };
  const parts = await mapAtOnce([...question.namespaces], AT_ONCE, async (namespace) => ({
    namespace,
    pods: await list(question, namespace),
  }));
  return {
    pods: parts.flatMap(({ pods = [] }) => pods),
    unread: new Set(parts.flatMap(({ namespace, pods }) => (pods ? [] : [namespace]))),
  };
}

/** Undefined where they may not be listed. */
async function list(
  { client, kind, asked, signal }: PodQuestion,
  namespace: string | undefined,
): Promise<readonly UsingPod[] | undefined> {
  const scope = { resource: PODS, namespace };
  const pods = await listKept({ client, scope, signal }, (raw) => readPod(raw, kind, asked));
  if (!(pods instanceof ApiError)) return pods;
  // The sandbox serves no Pods.
  return pods.kind === "notFound" ? [] : undefined;
}
