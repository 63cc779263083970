// Whether a Pod holds an older value than an object has now, and why. Promises: where the answer is not
// certain, the Pod counts as holding one. Kubernetes records times in whole seconds, so what started in the
// same second as the value was written counts as older.
import type { Use, UsingPod } from "./using-pod.ts";

/** The value of one object that Pods use. */
export type ObjectValue =
  /** It has the present value, and got it at `since` or earlier. */
  | { readonly kind: "present"; readonly since: number; readonly isImmutable: boolean }
  /** It has the present value, and nothing says since when. */
  | { readonly kind: "untimed" }
  /** It has an older value, or it is not known which. */
  | { readonly kind: "older" }
  /** A copy of this name is not there. Whoever uses one started with a former copy. */
  | { readonly kind: "former"; readonly since: number | undefined };

export const HELD_CODES = {
  StartedBefore: "it started before the value was written",
  CopyNotCurrent: "the object that it uses does not have the present value",
  TimeUnknown: "when the present value was written is not known",
  StartUnknown: "when it started is not known",
  StartNotReported:
    "it may have started before the value was written, and its node has not reported it",
  VolumeNotRefreshed: "the sync period of the kubelet is not over",
  VolumeImmutable: "the kubelet never refreshes the volume of an immutable object",
  VolumeOfDeletedPod: "it is being deleted, and its volumes are not refreshed any more",
  FormerCopy: "it started with a copy that is not there any more",
} as const;
export type HeldCode = keyof typeof HELD_CODES;

export type Refresh = {
  /** By the clock of the API server. */
  readonly now: number;
  /** How long the kubelet takes at most to refresh a volume, and to report what it started. */
  readonly syncPeriod: number;
};

/** Undefined: the use holds no older value. A pull secret never does. */
export function heldCode(
  use: Use,
  pod: UsingPod,
  value: ObjectValue,
  refresh: Refresh,
): HeldCode | undefined {
  if (use.by === "pull") return undefined;
  if (value.kind === "former") return formerCode(use, pod, value.since, refresh);
  const start = startOf(use, pod);
  if (start === "none") return undefined;
  if (start === "unreported") return unreportedCode(pod, value, refresh);
  switch (value.kind) {
    case "older":
      return "CopyNotCurrent";
    case "untimed":
      return "TimeUnknown";
    case "present":
      if (start !== "unknown" && start > value.since) return undefined;
      if (use.by === "volume") return volumeCode(pod, value, refresh);
      return start === "unknown" ? "StartUnknown" : "StartedBefore";
  }
}

/**
 * When the use began to hold what it holds. `none`: it has read nothing. `unreported`: it has read nothing as
 * far as its node has reported.
 */
function startOf({ by, start }: Use, pod: UsingPod): number | "none" | "unreported" | "unknown" {
  if (by === "environment" && start.kind === "started") return start.at;
  // A restarted container may keep the file of a subPath mount, so the Pod's start counts.
  if (pod.startedAt !== undefined)
    return by === "environment" && start.kind === "waiting" ? "unreported" : pod.startedAt;
  if (pod.isRunning || start.kind === "started") return "unknown";
  return pod.isScheduled ? "unreported" : "none";
}

/** A node reports late what it has started. Afterwards, a container that waits has read nothing. */
function unreportedCode(
  { createdAt, startedAt }: UsingPod,
  value: Exclude<ObjectValue, { kind: "former" }>,
  { now, syncPeriod }: Refresh,
): HeldCode | undefined {
  if (value.kind === "older") return undefined;
  if (value.kind === "untimed") return "TimeUnknown";
  const { since } = value;
  const isNewer = [createdAt, startedAt].some((time) => time !== undefined && time > since);
  return isNewer || now >= since + syncPeriod ? undefined : "StartNotReported";
}

function volumeCode(
  { isDeleting }: UsingPod,
  { since, isImmutable }: Extract<ObjectValue, { kind: "present" }>,
  { now, syncPeriod }: Refresh,
): HeldCode | undefined {
  if (isImmutable) return "VolumeImmutable";
  if (isDeleting) return "VolumeOfDeletedPod";
  return now < since + syncPeriod ? "VolumeNotRefreshed" : undefined;
}

// Without the object, only a container that has really started proves that there was one. A copy may have
// been late by as much as the kubelet before it was removed.
function formerCode(
  { by, start }: Use,
  { startedAt }: UsingPod,
  since: number | undefined,
  { syncPeriod }: Refresh,
): HeldCode | undefined {
  if (start.kind !== "started") return undefined;
  const began = by === "environment" ? start.at : (startedAt ?? start.at);
  return since === undefined || began <= since + syncPeriod ? "FormerCopy" : undefined;
}
