// A Pod as far as it matters for a rotation: when it started, and how it uses the objects that are asked for.
// All times are seconds since the epoch.
import type { V1OwnerReference } from "@kubernetes/client-node";

/** How a Pod uses an object. */
export type Use = {
  /** The object's, in the Pod's namespace. */
  readonly name: string;
  readonly by: UseKind;
  /** The name of the container with the variable or the mount. Absent for a whole Pod. */
  readonly container?: string;
  /** When that container started. For volumes: when the first container of the Pod did. */
  readonly start: ContainerStart;
  /** The Pod starts without the object or the entry as well. */
  readonly isOptional?: boolean;
  /** Entries without which the kubelet does not refresh the volume. */
  readonly required?: readonly string[];
  /** The volume needs other objects too. */
  readonly isOfSeveral?: boolean;
};

export type UseKind =
  /** A variable, or all of them by envFrom. It keeps the value with which its container started. */
  | "environment"
  /** By subPath or subPathExpr. It keeps the value with which its Pod started. */
  | "subPath"
  /** The kubelet refreshes it within its sync period. */
  | "volume"
  /** A volume of another kind that was mounted with it: csi.nodePublishSecretRef, azureFile.secretName. */
  | "mount"
  /** imagePullSecrets. It is read again at each pull. */
  | "pull";

export type ContainerStart =
  /** It runs, or has ended: what it read may be in a volume of its Pod. */
  | { readonly kind: "started"; readonly at: number }
  /** It reads its variables when it starts. */
  | { readonly kind: "waiting" }
  | { readonly kind: "unreported" };

export type PodOwner = Readonly<Pick<V1OwnerReference, "apiVersion" | "kind" | "name">>;

export type UsingPod = {
  readonly namespace: string;
  readonly name: string;
  /** The controller among its owners. Undefined for a bare Pod. */
  readonly owner: PodOwner | undefined;
  readonly createdAt: number | undefined;
  /** status.startTime: when a kubelet took it. */
  readonly startedAt: number | undefined;
  /** It is bound to a node. */
  readonly isScheduled: boolean;
  /** Its phase says that it runs. */
  readonly isRunning: boolean;
  readonly isDeleting: boolean;
  readonly uses: readonly Use[];
};
