// A rotation as a list with one item for each place: the source, its copies, and the objects that it fills.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { objectOfItem, type ItemObject } from "../../inspect/kubectl/listing.ts";
import { apiTime } from "../../inspect/requests/api-time.ts";
import { listed } from "../../text/listed.ts";
import { refText, type Ref } from "../../text/names.ts";
import { HELD_CODES, type HeldCode } from "../holding/held-value.ts";
import { restartCommand } from "../holding/restart-command.ts";
import type { Holder, Revocation } from "../holding/revocation.ts";
import type { PlaceRole, RotationPlace } from "../holding/rotation-places.ts";
import type { PodOwner, UseKind, UsingPod } from "../holding/using-pod.ts";

export type HolderItem = {
  /** The Pod's name, in the place's namespace. */
  readonly pod: string;
  /** RFC 3339. Absent where the Pod's status has none. */
  readonly startedAt: string | undefined;
  readonly owner: PodOwner | undefined;
  readonly holds: readonly {
    readonly by: UseKind;
    readonly container?: string;
    readonly code: HeldCode;
    readonly reason: string;
  }[];
  /** The command that restarts it. */
  readonly restart: string;
};

export type RotationItem = ItemObject & {
  /** NAMESPACE/NAME. */
  readonly source: string;
  readonly role: PlaceRole;
  /** Whether it has the present value. */
  readonly value: "present" | "older" | "absent";
  /** When it got the present value, or earlier. RFC 3339. Absent where it has none, or nothing records it. */
  readonly since: string | undefined;
  readonly verdict: RotationPlace["verdict"];
  readonly code: string | undefined;
  readonly reason: string;
  readonly podsRead: boolean;
  /** Pods that hold an older value. */
  readonly holders: readonly HolderItem[];
  /** Names of Pods that pull images with it. They read it again at each pull. */
  readonly pulls: readonly string[];
};

type OwnerOf = (pod: UsingPod) => PodOwner | undefined;

export function rotationItems(
  kind: ObjectKind,
  source: Ref,
  { places }: Pick<Revocation, "places">,
  ownerOf: OwnerOf,
): readonly RotationItem[] {
  return places.map(({ place, holders, pulls, podsUnread }) => {
    const { role, verdict, code, reason, value } = place;
    return {
      ...objectOfItem(kind, place),
      role,
      value: valueWord(value),
      since: value?.kind === "present" ? apiTime(value.since) : undefined,
      verdict,
      code,
      reason,
      podsRead: !podsUnread,
      holders: holders.map((holder) => holderItem(holder, ownerOf(holder.pod))),
      pulls: pulls.map((pod) => pod.name),
      source: refText(source),
    };
  });
}

function valueWord(value: RotationPlace["value"]): RotationItem["value"] {
  switch (value?.kind) {
    case "present":
    case "untimed":
      return "present";
    case "older":
      return "older";
    case "former":
    case "other":
    case undefined:
      return "absent";
  }
}

function holderItem({ pod, holds }: Holder, owner: PodOwner | undefined): HolderItem {
  return {
    pod: pod.name,
    startedAt: pod.startedAt === undefined ? undefined : apiTime(pod.startedAt),
    owner,
    holds: holds.map((held) => ({ ...held, reason: HELD_CODES[held.code] })),
    restart: restartCommand(pod, owner),
  };
}

/** More equal places than these are one row of the table. */
const MOST_EQUAL = 5;

/** For a table: equal places that no Pod holds back are one row, in the place of the first of them. */
export function groupedItems(items: readonly RotationItem[]): readonly RotationItem[] {
  const groups = Map.groupBy(items, (item) =>
    item.holders.length > 0
      ? refText(item)
      : [item.name, item.role, item.value, item.verdict, item.reason, item.podsRead].join("\n"),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first || group.length <= MOST_EQUAL) return group;
    const since = group.every((item) => item.since !== undefined)
      ? group.map((item) => item.since ?? "").reduce((a, b) => (a > b ? a : b))
      : undefined;
    const namespace = listed([first.namespace], 1, { count: group.length });
    return [{ ...first, namespace, since }];
  });
}

/** Each command once. */
export function restartCommands(items: readonly RotationItem[]): readonly string[] {
  return [...new Set(items.flatMap(({ holders }) => holders.map(({ restart }) => restart)))];
}
