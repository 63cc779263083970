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
  world: Pick<RotationWorld, "places" | "unmanaged">,
  pods: readonly WorldPod[],
  source: string,
  refreshed: { readonly now: number; readonly syncPeriod: number },
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
  world: Pick<RotationWorld, "places" | "unmanaged">,
  pods: readonly WorldPod[],
  source: string,
): readonly string[] {
  return judged(world, pods, source, ANY_TIME)
    .filter(({ all }) => all.includes("pull"))
    .map(({ pod }) => `${pod.namespace}/${pod.name}`)
    .toSorted();
}

/** A copy that is not there any more was there when a container with it really started. */
function formerHolding(use: Use, timing: Timing, until: number): Holding | "pull" | undefined {
  const isEnvironment = holdingOf(use, { kind: "started", at: 0 }, 0, ANY_TIME) === "environment";
  if (use.way === "pull" || timing.kind !== "reported") return undefined;
  const began = isEnvironment ? timing.containersAt : timing.at;
  const everything = { now: 0, syncPeriod: Number.POSITIVE_INFINITY };
  const isOptional = use.way === "optionalEnv" || use.way === "unknownKeyEnv";
  return !isOptional || began <= until
    ? holdingOf(use, { kind: "started", at: 0 }, 0, everything)
    : undefined;
}

function judged(
  { places, unmanaged }: Pick<RotationWorld, "places" | "unmanaged">,
  pods: readonly WorldPod[],
  source: string,
  refreshed: { readonly now: number; readonly syncPeriod: number },
) {
  const ofSource = places.filter((place) => place.source === source);
  const placeAt = new Map(ofSource.map((place) => [refOf(place), place]));
  const there = new Set([...places.map(refOf), ...unmanaged]);
  const own = ofSource.find(({ role }) => role === "source");
  const copyName = ofSource.find(({ role }) => role === "copy")?.name;
  return pods.map((pod) => ({
    pod,
    all: pod.uses.flatMap((use) => {
      const place = placeAt.get(`${pod.namespace}/${use.secret}`);
      if (use.secret === copyName && own && !there.has(`${pod.namespace}/${use.secret}`))
        return (
          formerHolding(use, pod.timing, own.since + LONGEST_WAIT + refreshed.syncPeriod) ?? []
        );
      if (!place || (place.state === "conflict" && place.role === "copy")) return [];
      // What is not current has had no present value yet: whatever started holds an older one.
      const since = place.state === "current" ? place.since : Number.POSITIVE_INFINITY;
      return holdingOf(use, pod.timing, since, refreshed) ?? [];
    }),
  }));
}

/** The default of --delete-hold. */
const LONGEST_WAIT = 1800;

/** Whether an image is pulled with it does not depend on times. */
const ANY_TIME = { now: Number.POSITIVE_INFINITY, syncPeriod: 0 };
