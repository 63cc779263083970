// What a world of rotations consists of, and how its parts are called.
import type { Timing, Use } from "./pod-uses.ts";
import type { Binding } from "./readers.ts";

export type Place = {
  readonly namespace: string;
  readonly name: string;
  /** NAMESPACE/NAME; of the source's own place too. */
  readonly source: string;
  readonly role: "source" | "copy" | "pulling";
  /**
   * `stale`: it has the old value and gets no new one. `conflict`: it has content of its owner's, or is not
   * a copy.
   */
  readonly state: "current" | "stale" | "conflict";
  /** Seconds since the epoch: when it got the value that it has. */
  readonly since: number;
};

export type Owner = {
  readonly kind: "StatefulSet" | "DaemonSet" | "Job" | "CronJob" | "Deployment" | "ReplicaSet";
  readonly name: string;
};

export type WorldPod = {
  readonly namespace: string;
  /** Undefined until the Pod of a Deployment or ReplicaSet has one. */
  readonly name: string | undefined;
  readonly owner: Owner | undefined;
  readonly uses: readonly Use[];
  readonly timing: Timing;
};

export type WorldSource = {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Plain values; `value` is the entry that is rotated. */
  readonly data: Readonly<Record<string, string>>;
};

export type RotationWorld = {
  readonly prefix: string;
  /** Seconds since the epoch, when the world was made. */
  readonly now: number;
  readonly sources: readonly WorldSource[];
  /** The sources' own are not among them. */
  readonly namespaces: readonly string[];
  readonly places: readonly Place[];
  /** Secrets that are nobody's copy, NAMESPACE/NAME. */
  readonly unmanaged: readonly string[];
  readonly pods: readonly WorldPod[];
  readonly bindings: readonly Binding[];
};

/** Namespaces by number: a name that is taken, and one whose annotations become invalid. */
export const TAKEN = 151;
export const FROZEN = 152;
export const OWN_ENTRY = 200;
export const OWNED_EVERY = 10;

export function namespaceName(prefix: string, n: number): string {
  return `${prefix}-${String(n).padStart(3, "0")}`;
}

export function refOf({ namespace, name }: Pick<Place, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

export function sourceNamespacesOf({ prefix }: RotationWorld): string {
  return `${prefix}-platform,${prefix}-security`;
}
