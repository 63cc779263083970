// The answer to "may the old value be revoked?": yes only if every place is current and no Pod that may be
// read holds an older value.
import { refText, type Ref } from "../../text/names.ts";
import { heldCode, type HeldCode, type Refresh } from "./held-value.ts";
import type { RotationPlace } from "./rotation-places.ts";
import type { Use, UsingPod } from "./using-pod.ts";

export type Held = Pick<Use, "by" | "container"> & { readonly code: HeldCode };

export type Holder = {
  readonly pod: UsingPod;
  /** At least one. */
  readonly holds: readonly Held[];
};

export type JudgedPlace = {
  readonly place: RotationPlace;
  readonly holders: readonly Holder[];
  /** Pods that pull images with it. */
  readonly pulls: readonly UsingPod[];
  /** The Pods of its namespace may not be listed. */
  readonly podsUnread: boolean;
};

export type Revocation = {
  readonly places: readonly JudgedPlace[];
  readonly isSafe: boolean;
  /** How many of each prevent it. */
  readonly notCurrent: number;
  readonly holdingPods: number;
  readonly unreadNamespaces: number;
};

export type PodsAsRead = {
  readonly pods: readonly UsingPod[];
  /** Namespaces whose Pods may not be listed. */
  readonly unread: ReadonlySet<string>;
};

/**
 * `unrecorded`: what a Pod says of a place that is not among `places`. Undefined where the source had none.
 */
export function judgeRevocation(
  places: readonly RotationPlace[],
  { pods, unread }: PodsAsRead,
  unrecorded: (place: Ref) => RotationPlace | undefined,
  refresh: Refresh,
): Revocation {
  const known = new Set(places.map(refText));
  const using = usesByPlace(pods);
  const all = [...places];
  for (const [key, { place }] of using) {
    const more = known.has(key) ? undefined : unrecorded(place);
    if (more) all.push(more);
  }
  const judged = all
    .map((place): JudgedPlace => {
      const { pods: there = [] } = using.get(refText(place)) ?? {};
      return {
        place,
        holders: there.flatMap((pod) => holderOf(pod, place, refresh)),
        pulls: place.role === "former" ? [] : there.filter((pod) => pullsWith(pod, place)),
        podsUnread: unread.has(place.namespace),
      };
    })
    .filter(({ place, holders }) => place.role !== "former" || holders.length > 0);
  const notCurrent = judged.filter(
    ({ place }) => !place.isCurrent && place.role !== "former",
  ).length;
  const holding = new Set(judged.flatMap(({ holders }) => holders.map(({ pod }) => refText(pod))));
  const unreadNamespaces = unread.size;
  return {
    places: judged,
    isSafe: notCurrent === 0 && holding.size === 0 && unreadNamespaces === 0,
    notCurrent,
    holdingPods: holding.size,
    unreadNamespaces,
  };
}

function pullsWith({ uses }: UsingPod, { name }: Ref): boolean {
  return uses.some((use) => use.by === "pull" && use.name === name);
}

type UsesAt = { readonly place: Ref; readonly pods: UsingPod[] };

function usesByPlace(pods: readonly UsingPod[]): ReadonlyMap<string, UsesAt> {
  const found = new Map<string, UsesAt>();
  for (const pod of pods)
    for (const name of new Set(pod.uses.map((use) => use.name))) {
      const place = { namespace: pod.namespace, name };
      const at = found.get(refText(place)) ?? { place, pods: [] };
      found.set(refText(place), at);
      at.pods.push(pod);
    }
  return found;
}

function holderOf(pod: UsingPod, place: RotationPlace, refresh: Refresh): readonly Holder[] {
  const { value } = place;
  if (!value) return [];
  const holds = pod.uses.flatMap((use): readonly Held[] => {
    const code = use.name === place.name ? heldCode(use, pod, value, refresh) : undefined;
    if (code === undefined) return [];
    const { by, container } = use;
    return [{ by, ...(container !== undefined && { container }), code }];
  });
  return holds.length > 0 ? [{ pod, holds }] : [];
}
