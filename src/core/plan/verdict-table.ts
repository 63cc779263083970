// The verdict table as data: what is at a place × whether a source wants the place. plan.ts shows it
// and decides by it, its test walks it cell by cell, and the README prints it.
import type { Desired, Verdict } from "../model/verdicts.ts";
import type { CopySecret, Secret } from "../model/cluster.ts";
import type { OnDelete } from "../annotations/rules.ts";

/** What is at a place, as one source sees it. */
export const TARGET_STATES = {
  absent: "absent",
  equal: "ours, equal",
  different: "ours, different",
  fixed: "ours, different where the API allows no update (type, immutable)",
  deleting: "ours, being deleted",
  foreign: "not ours",
} as const;
export type TargetState = keyof typeof TARGET_STATES;

type Line = Readonly<Record<TargetState, readonly [Verdict, Verdict?]>>;

/** A cell's second verdict: with the owner's `adopt`, or with `on-delete: keep`. */
export const VERDICT_TABLE: { readonly wanted: Line; readonly unwanted: Line } = {
  wanted: {
    absent: ["create"],
    equal: ["current"],
    different: ["update"],
    fixed: ["replace"],
    deleting: ["wait"],
    foreign: ["conflict", "adopt"],
  },
  unwanted: {
    absent: ["skip"],
    equal: ["delete", "release"],
    different: ["delete", "release"],
    fixed: ["delete", "release"],
    deleting: ["wait"],
    foreign: ["skip"],
  },
};

export function targetStateOf(present: Secret | undefined, content: Desired): TargetState {
  if (present === undefined) return "absent";
  if (present.role !== "copy") return "foreign";
  if (present.deleting) return "deleting";
  const { replica } = content;
  if (present.fingerprint === replica.fingerprint) return "equal";
  if (present.type !== replica.type) return "fixed";
  const frozen = present.immutable && !(replica.immutable && sameData(present, content));
  return frozen ? "fixed" : "different";
}

function sameData(present: CopySecret, { replica }: Desired): boolean {
  return present.dataDigest === replica.dataDigest;
}

/** A copy that nobody wants any more. */
export function removalVerdict(
  copy: CopySecret,
  onDelete: OnDelete,
): "delete" | "release" | "wait" {
  if (copy.deleting) return "wait";
  return onDelete === "keep" ? "release" : "delete";
}

/** Why a source may not take over the Secret in its way; undefined: its owner lets it and it fits. */
export function adoptionObstacle(present: Secret, content: Desired): string | undefined {
  const { source, replica } = content;
  if (present.role === "source") return "a Secret that is a source itself is in the way";
  if (present.role === "pull") return "a Secret that pulls its entries is in the way";
  if (present.role === "copy" || present.adopt === undefined) {
    return `a Secret that is not ours is in the way; its owner may annotate it secretcast.io/adopt: ${source.namespace}/${source.name}, rename or delete it`;
  }
  const { adopt } = present;
  if (adopt.source === undefined) {
    return "the Secret in the way has a secretcast.io/adopt that is not NAMESPACE/NAME of a source";
  }
  if (adopt.source.namespace !== source.namespace || adopt.source.name !== source.name) {
    return `the Secret in the way lets ${adopt.source.namespace}/${adopt.source.name} adopt it, not this source`;
  }
  if (present.deleting) return "the Secret in the way is being deleted";
  if (adopt.type !== replica.type) {
    return `the Secret in the way is of type ${adopt.type}, the copy would be ${replica.type}; a type cannot be changed`;
  }
  if (adopt.immutable) return "the Secret in the way is immutable; its owner may delete it";
  return undefined;
}
