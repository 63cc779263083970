// Reads Pods in pages and keeps of each only what a rotation asks for. Where the whole cluster may not be
// listed, the namespaces that matter are listed one by one. A namespace that may not be listed is reported and
// never treated as empty.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { listAll } from "../../kube/cache/list.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { PODS } from "../../kube/rest/resource.ts";
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

export type ReadPods = PodsAsRead & {
  /** Pods of all namespaces were listed. */
  readonly whole: boolean;
};

const AT_ONCE = 8;

export async function readPods(question: PodQuestion): Promise<ReadPods> {
  const all = await list(question, undefined);
  if (all) return { pods: all, unread: new Set(), whole: true };
  const pods: UsingPod[] = [];
  const unread = new Set<string>();
  const left = question.namespaces.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const namespace of left) {
        const found = await list(question, namespace);
        if (found) pods.push(...found);
        else unread.add(namespace);
      }
    }),
  );
  return { pods, unread, whole: false };
}

/** Undefined where they may not be listed. */
async function list(
  { client, kind, asked, signal }: PodQuestion,
  namespace: string | undefined,
): Promise<readonly UsingPod[] | undefined> {
  let found: UsingPod[] = [];
  try {
    await listAll({
      client,
      scope: { resource: PODS, namespace },
      signal,
      onPage: (items) => {
        for (const item of items) {
          const pod = readPod(item, kind, asked);
          if (pod) found.push(pod);
        }
      },
      onRestart: () => {
        found = [];
      },
    });
    return found;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The sandbox serves no Pods.
    if (error.kind === "notFound") return [];
    if (error.kind === "forbidden") return undefined;
    throw error;
  }
}
