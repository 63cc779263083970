// The verdict table as data: what is at a place × whether a source wants the place. The planner decides
// by it (wantedVerdict, unwantedVerdict), its test walks it cell by cell, and the README prints it.
import { adoptionHint, type Verdict } from "../model/verdicts.ts";
import type { CopyObject, CachedObject } from "../model/cluster.ts";
import { refText } from "../../text/names.ts";
import type { OnDelete } from "../annotations/rules.ts";
import type { Desired } from "../model/actions.ts";

/** What is at a place, as one source sees it. */
export const TARGET_STATES = {
  absent: "absent",
  equal: "ours, equal",
  different: "ours, different",
  fixed: "ours, different where the API allows no update (type, immutable)",
  deleting: "ours, being deleted",
  unmanaged: "not ours",
} as const;
export type TargetState = keyof typeof TARGET_STATES;

type Line = Readonly<Record<TargetState, readonly [Verdict, Verdict?]>>;

/** A cell's second verdict: with the owner's `adopt`, or with `on-delete: keep`. */
export const VERDICT_TABLE = {
  wanted: {
    absent: ["create"],
    equal: ["current"],
    different: ["update"],
    fixed: ["replace"],
    deleting: ["wait"],
    unmanaged: ["conflict", "adopt"],
  },
  unwanted: {
    absent: ["skip"],
    equal: ["delete", "release"],
    different: ["delete", "release"],
    fixed: ["delete", "release"],
    deleting: ["wait"],
    unmanaged: ["skip"],
  },
} as const satisfies { readonly wanted: Line; readonly unwanted: Line };

type Wanted = (typeof VERDICT_TABLE)["wanted"];
type Unwanted = (typeof VERDICT_TABLE)["unwanted"];

/** The verdict for a place that its source wants. `adoptable`: nothing prevents adopting the object there. */
export function wantedVerdict<S extends TargetState>(
  state: S,
  adoptable = false,
): Wanted[S][number] {
  type Cell = readonly [Wanted[S][number], Wanted[S][number]?];
  const [plain, adopting = plain] = VERDICT_TABLE.wanted[state] as Cell;
  return adoptable ? adopting : plain;
}

/** The verdict for a place that no source wants. An absent or unmanaged object there is skipped. */
export function unwantedVerdict<S extends TargetState>(
  state: S,
  onDelete: OnDelete = "delete",
): Unwanted[S][number] {
  type Cell = readonly [Unwanted[S][number], Unwanted[S][number]?];
  const [plain, keeping = plain] = VERDICT_TABLE.unwanted[state] as Cell;
  return onDelete === "keep" ? keeping : plain;
}

/** The state of a place without a copy of ours. */
export function targetStateWithoutCopy(present: CachedObject | undefined): "absent" | "unmanaged" {
  return present === undefined ? "absent" : "unmanaged";
}

export function targetStateOf(
  present: CopyObject,
  content: Desired,
): Exclude<TargetState, "absent" | "unmanaged"> {
  if (present.deleting) return "deleting";
  const { desiredCopy } = content;
  if (present.fingerprint === desiredCopy.fingerprint) return "equal";
  if (present.type !== desiredCopy.type) return "fixed";
  const frozen = present.immutable && !(desiredCopy.immutable && sameData(present, content));
  return frozen ? "fixed" : "different";
}

function sameData(present: CopyObject, { desiredCopy }: Desired): boolean {
  return present.dataDigest === desiredCopy.dataDigest;
}

/** Why a source may not take over the Secret in its way, or undefined if its owner allows it and it fits. */
export function adoptionObstacle(present: CachedObject, content: Desired): string | undefined {
  const { source, desiredCopy } = content;
  const { kind } = source;
  if (present.role === "source") return `a ${kind} that is a source itself is in the way`;
  if (present.role === "pull") return `a ${kind} that pulls its entries is in the way`;
  if (present.role === "unmanaged" && present.adopt === undefined && present.copiedFor)
    return `${adoptionHint(kind, refText(source))}. It carries the marks of a copy that was made for ${refText(present.copiedFor)} and was moved or restored here`;
  if (present.role === "copy" || present.adopt === undefined) {
    return adoptionHint(kind, refText(source));
  }
  const { adopt } = present;
  if (adopt.source === undefined) {
    return `the ${kind} in the way has a secretcast.io/adopt that is not NAMESPACE/NAME of a source`;
  }
  if (adopt.source.namespace !== source.namespace || adopt.source.name !== source.name) {
    return `the ${kind} in the way lets ${adopt.source.namespace}/${adopt.source.name} adopt it, not this source`;
  }
  if (present.deleting) return `the ${kind} in the way is being deleted`;
  if (adopt.unknownKey !== undefined) {
    return `the ${kind} in the way carries ${adopt.unknownKey}, which this version does not know; its owner may correct it or take it off`;
  }
  if (adopt.type !== desiredCopy.type) {
    return `the ${kind} in the way is of type ${adopt.type}, the copy would be ${desiredCopy.type}; a type cannot be changed`;
  }
  if (adopt.immutable) return `the ${kind} in the way is immutable; its owner may delete it`;
  return undefined;
}
