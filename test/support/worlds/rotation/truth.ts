// The truth about a world of rotations: which Pods hold an older value of a source, and which pull with it.
import { holdingOf, type Holding, type Timing, type Use } from "./pod-uses.ts";
import { refOf, type RotationWorld, type WorldPod } from "./world-parts.ts";

export type Holder = {
  /** NAMESPACE/NAME. */
  readonly pod: string;
  /** Sorted, each once. */
  readonly holds: readonly Holding[];
  /** KIND/NAME, or "". */
  readonly owner: string;
};

/** The truth: the Pods that hold an older value of the source than its present one, sorted by name. */
export function holdersOf(
  world: World,
  pods: readonly WorldPod[],
  source: string,
  refreshed: Refreshed,
): readonly Holder[] {
  return judged(world, pods, source, refreshed)
    .map(({ pod, all }) => ({
      pod: `${pod.namespace}/${pod.name}`,
      holds: [...new Set(all.filter((each) => each !== "pull"))].toSorted(),
      owner: pod.owner ? `${pod.owner.kind}/${pod.owner.name}` : "",
    }))
    .filter(({ holds }) => holds.length > 0)
    .toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
}

/** The Pods that pull images with it, sorted. */
export function pullersOf(
  world: World,
  pods: readonly WorldPod[],
  source: string,
): readonly string[] {
  return judged(world, pods, source, ANY_TIME)
    .filter(({ all }) => all.includes("pull"))
    .map(({ pod }) => `${pod.namespace}/${pod.name}`)
    .toSorted();
}

/** A copy that is not there any more was there when a container with it really started. */
function formerHolding(
  use: Use,
  timing: Timing,
  until: number,
  isUnreported: boolean,
): Holding | undefined {
  const isOptional = use.way === "optionalEnv" || use.way === "unknownKeyEnv";
  const began = beganAt(use, timing);
  if (began === undefined) return isUnreported ? whatMayHold(use, timing) : undefined;
  return !isOptional || began <= until ? whatMayHold(use, timing) : undefined;
}

/** Where something else is now that was made at `since`, a copy may have been before. */
function otherHolding(
  use: Use,
  timing: Timing,
  since: number,
  { now, syncPeriod, isUnreported }: Refreshed & { readonly isUnreported: boolean },
): Holding | undefined {
  const began = beganAt(use, timing);
  const holding = whatMayHold(use, timing);
  if (began === undefined) return isUnreported ? holding : undefined;
  if (began > since + syncPeriod) return undefined;
  return holding === "volume" && now >= since + syncPeriod ? undefined : holding;
}

/** Undefined: no node has reported that a container started. */
function beganAt(use: Use, timing: Timing): number | undefined {
  if (timing.kind !== "reported") return undefined;
  return whatMayHold(use, timing) === "environment" ? timing.containersAt : timing.at;
}

/** Undefined: it has not begun, or is over, or pulls. */
function whatMayHold(use: Use, timing: Timing): Holding | undefined {
  if (use.way === "pull" || timing.kind === "unstarted" || timing.kind === "finished")
    return undefined;
  const everything = { now: 0, syncPeriod: Number.POSITIVE_INFINITY };
  const holding = holdingOf(use, { kind: "started", at: 0 }, 0, everything);
  return holding === "pull" ? undefined : holding;
}

function judged(
  { now: madeAt, places, unmanaged }: World,
  pods: readonly WorldPod[],
  source: string,
  refreshed: Refreshed,
) {
  const ofSource = places.filter((place) => place.source === source);
  const placeAt = new Map(ofSource.map((place) => [refOf(place), place]));
  const others = new Set(unmanaged);
  const there = new Set([...places.map(refOf), ...unmanaged]);
  const own = ofSource.find(({ role }) => role === "source");
  const copyName = ofSource.find(({ role }) => role === "copy")?.name;
  // A node reports a start late, so a Pod that is as new as that may have started.
  const isUnreported = madeAt > refreshed.now - refreshed.syncPeriod;
  return pods.map(({ timing, ...pod }) => ({
    pod,
    all: pod.uses.flatMap((use): readonly (Holding | "pull")[] => {
      const ref = `${pod.namespace}/${use.secret}`;
      const place = placeAt.get(ref);
      if (use.secret === copyName && own && !there.has(ref)) {
        const until = own.since + LONGEST_WAIT + refreshed.syncPeriod;
        return each(formerHolding(use, timing, until, isUnreported));
      }
      if (use.secret === copyName && others.has(ref))
        return each(otherHolding(use, timing, madeAt, { ...refreshed, isUnreported }));
      if (!place) return [];
      // It has content of its owner's since then, and may have been filled before.
      if (place.role === "pulling" && place.state === "conflict" && use.way !== "pull")
        return each(otherHolding(use, timing, place.since, { ...refreshed, isUnreported }));
      // What is not current has had no present value yet: whatever started holds an older one.
      const since = place.state === "current" ? place.since : Number.POSITIVE_INFINITY;
      return each(holdingOf(use, timing, since, refreshed));
    }),
  }));
}

function each<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one];
}

type Refreshed = { readonly now: number; readonly syncPeriod: number };
/** All that is in it was made about `now`. */
type World = Pick<RotationWorld, "now" | "places" | "unmanaged">;

/** The default of --delete-hold. */
const LONGEST_WAIT = 1800;

/** Whether an image is pulled with it does not depend on times. */
const ANY_TIME = { now: Number.POSITIVE_INFINITY, syncPeriod: 0 };
