// The truth about a world of rotations: which Pods hold an older value of a source, and which pull with it.
import { holdingOf, type Holding } from "./pod-uses.ts";
import { refOf, type Place, type RotationWorld, type WorldPod } from "./world-parts.ts";

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
  { places }: Pick<RotationWorld, "places">,
  pods: readonly WorldPod[],
  source: string,
  refreshed: { readonly now: number; readonly syncPeriod: number },
): readonly Holder[] {
  return judged(places, pods, source, refreshed)
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
  { places }: Pick<RotationWorld, "places">,
  pods: readonly WorldPod[],
  source: string,
): readonly string[] {
  return judged(places, pods, source, ANY_TIME)
    .filter(({ all }) => all.includes("pull"))
    .map(({ pod }) => `${pod.namespace}/${pod.name}`)
    .toSorted();
}

function judged(
  places: readonly Place[],
  pods: readonly WorldPod[],
  source: string,
  refreshed: { readonly now: number; readonly syncPeriod: number },
) {
  const ofSource = places.filter((place) => place.source === source);
  const placeAt = new Map(ofSource.map((place) => [refOf(place), place]));
  return pods.map((pod) => ({
    pod,
    all: pod.uses.flatMap((use) => {
      const place = placeAt.get(`${pod.namespace}/${use.secret}`);
      if (!place || (place.state === "conflict" && place.role === "copy")) return [];
      // A stale copy has had no present value yet: whatever started holds an older one.
      const since = place.state === "stale" ? Number.POSITIVE_INFINITY : place.since;
      return holdingOf(use, pod.timing, since, refreshed) ?? [];
    }),
  }));
}

/** Whether an image is pulled with it does not depend on times. */
const ANY_TIME = { now: Number.POSITIVE_INFINITY, syncPeriod: 0 };
