// Whether a Pod holds an older value than an object has now, and why. Promises: where the answer is not
// certain, the Pod counts as holding one. A kubelet resolves a variable before it reports the start, and from a
// cache. So a start counts as later only if it is later by more than the sync period, for every use.
import type { Use, UsingPod } from "./using-pod.ts";

/** The value of one object that Pods use. */
export type ObjectValue =
  /** It has the present value, and got it at `since` or earlier. */
  | ({ readonly kind: "present"; readonly since: number } & Refreshed)
  /** It has the present value, and nothing says since when. */
  | { readonly kind: "untimed" }
  /** It has an older value, or it is not known which. */
  | { readonly kind: "older" }
  /** Nothing is there. A Pod that started with it started with what was there before. */
  | {
      readonly kind: "former";
      /** What an optional use that started later holds is not a value of the source. Undefined: it is. */
      readonly until: number | undefined;
    }
  /** Something else is there, and got what it has at `since` or earlier. The source's value may have been there. */
  | ({ readonly kind: "other"; readonly since: number | undefined } & Refreshed);

type Refreshed = {
  readonly isImmutable: boolean;
  /** The names of its entries. Undefined: not known. */
  readonly keys?: ReadonlySet<string> | undefined;
};

export const HELD_CODES = {
  StartedBefore: "it started before the value was written, or within the sync period after it",
  CopyNotCurrent: "the object that it uses does not have the present value",
  TimeUnknown: "when the present value was written is not known",
  StartUnknown: "when it started is not known",
  StartNotReported:
    "it may have started before the value was written, and its node has not reported it",
  VolumeNotRefreshed: "the sync period of the kubelet is not over",
  VolumeImmutable: "the kubelet never refreshes the volume of an immutable object",
  VolumeLacksEntry:
    "the volume names an entry that is not there any more, so the kubelet does not refresh it",
  VolumeOfSeveral:
    "the volume has other sources, and the kubelet does not refresh it if one of them is missing",
  VolumeOfDeletedPod: "it is being deleted, and its volumes are not refreshed any more",
  FormerCopy: "it started with a copy that is not there any more",
  FormerContent: "it may have started with a copy that was there before this object",
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
  if (value.kind === "former") return formerCode(use, pod, value.until, refresh);
  if (value.kind === "other") return otherCode(use, pod, value, refresh);
  const start = startOf(use, pod);
  if (start === "none") return undefined;
  if (start === "unreported") return unreportedCode(pod, value, refresh);
  switch (value.kind) {
    case "older":
      return "CopyNotCurrent";
    case "untimed":
      return "TimeUnknown";
    case "present":
      if (start !== "unknown" && start > value.since + refresh.syncPeriod) return undefined;
      if (use.by === "volume") return volumeCode(use, pod, value, refresh);
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
  value: Exclude<ObjectValue, { kind: "former" | "other" }>,
  { now, syncPeriod }: Refresh,
): HeldCode | undefined {
  if (value.kind === "older") return undefined;
  if (value.kind === "untimed") return "TimeUnknown";
  const { since } = value;
  const readLast = since + syncPeriod;
  const isNewer = [createdAt, startedAt].some((time) => time !== undefined && time > readLast);
  return isNewer || now >= readLast + syncPeriod ? undefined : "StartNotReported";
}

function volumeCode(
  { required, isOfSeveral }: Use,
  { isDeleting }: UsingPod,
  { since, isImmutable, keys }: Refreshed & { readonly since: number },
  { now, syncPeriod }: Refresh,
): HeldCode | undefined {
  if (isImmutable) return "VolumeImmutable";
  if (isDeleting) return "VolumeOfDeletedPod";
  if (required?.some((key) => !keys?.has(key))) return "VolumeLacksEntry";
  if (isOfSeveral) return "VolumeOfSeveral";
  return now < since + syncPeriod ? "VolumeNotRefreshed" : undefined;
}

/** An optional use starts without the object as well, so its start proves nothing. */
function formerCode(
  use: Use,
  pod: UsingPod,
  until: number | undefined,
  refresh: Refresh,
): HeldCode | undefined {
  const began = beganAt(use, pod, refresh);
  if (typeof began !== "number") return began;
  return use.isOptional && until !== undefined && began > until + refresh.syncPeriod
    ? undefined
    : "FormerCopy";
}

function otherCode(
  use: Use,
  pod: UsingPod,
  { since, ...refreshed }: Extract<ObjectValue, { kind: "other" }>,
  refresh: Refresh,
): HeldCode | undefined {
  const began = beganAt(use, pod, refresh);
  if (typeof began !== "number") return began;
  if (since === undefined) return "FormerContent";
  if (began > since + refresh.syncPeriod) return undefined;
  if (use.by !== "volume") return "FormerContent";
  return volumeCode(use, pod, { since, ...refreshed }, refresh);
}

// Only a container that has really started proves that there was an object, and a node reports a start late.
function beganAt(
  { by, start }: Use,
  { createdAt, startedAt, isScheduled }: UsingPod,
  { now, syncPeriod }: Refresh,
): number | "StartNotReported" | undefined {
  if (start.kind === "started") return by === "environment" ? start.at : (startedAt ?? start.at);
  const isNew = createdAt === undefined || createdAt > now - syncPeriod;
  return (isScheduled || startedAt !== undefined) && isNew ? "StartNotReported" : undefined;
}
