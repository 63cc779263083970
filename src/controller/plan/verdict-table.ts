// The verdict table as data: what is at a place × whether a source wants the place. The planner decides
// by it (wantedVerdict, unwantedVerdict), its test walks it cell by cell, and docs/reference.md prints it.
import { because, type Reason } from "../model/reasons.ts";
import { offerCommand, type Verdict } from "../model/verdicts.ts";
import type { CopyObject, CachedObject } from "../model/cluster.ts";
import { refText } from "../../text/names.ts";
import type { TargetState } from "../model/verdicts.ts";
import type { OnDelete } from "../annotations/rules.ts";
import type { Desired } from "../model/actions.ts";

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
  if (present.template.fingerprint === desiredCopy.fingerprint) return "equal";
  if (present.template.type !== desiredCopy.type) return "fixed";
  const frozen =
    present.template.immutable && !(desiredCopy.immutable && sameData(present, content));
  return frozen ? "fixed" : "different";
}

function sameData(present: CopyObject, { desiredCopy }: Desired): boolean {
  return present.template.dataDigest === desiredCopy.dataDigest;
}

/** Why a source may not take over the Secret in its way, or undefined if its owner allows it and it fits. */
export function adoptionObstacle(present: CachedObject, content: Desired): Reason | undefined {
  const { source, desiredCopy } = content;
  const { kind } = source;
  if (present.role === "source") return because("SourceInTheWay", { kind });
  if (present.role === "pull") return because("PullingObjectInTheWay", { kind });
  if (present.role === "unmanaged" && present.adopt === undefined && present.copiedFor)
    return because("MovedCopyInTheWay", {
      kind,
      command: offerCommand(kind, refText(source)),
      copiedFor: refText(present.copiedFor),
    });
  if (present.role === "copy" || present.adopt === undefined) {
    return because("ObjectInTheWay", { kind, command: offerCommand(kind, refText(source)) });
  }
  const { adopt } = present;
  if (adopt.source === undefined) {
    return because("AdoptInvalid", { kind });
  }
  if (adopt.source.namespace !== source.namespace || adopt.source.name !== source.name) {
    return because("AdoptOther", { kind, source: refText(adopt.source) });
  }
  if (present.deleting) return because("AdoptDeleting", { kind });
  if (adopt.unknownKey !== undefined) {
    return because("AdoptUnknownKey", { kind, key: adopt.unknownKey });
  }
  if (adopt.type !== desiredCopy.type) {
    return because("AdoptTypeDiffers", { kind, type: adopt.type, wanted: desiredCopy.type });
  }
  if (adopt.immutable) return because("AdoptImmutable", { kind });
  return undefined;
}
