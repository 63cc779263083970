// What is done with a copy, as its own namespace and the source that it names say.
import { because } from "../model/reasons.ts";
import type { Candidate, EntryStatus, SourceStatus } from "../desired/sources.ts";
import { readOfNamespace, type RemovalReason } from "./removal-conditions.ts";
import { isWanted } from "../desired/wants.ts";
import { frozenIn, matchOf } from "../desired/targets.ts";
import type { OnDelete } from "../annotations/rules.ts";
import type { CopyObject } from "../model/cluster.ts";
import { unreadableName } from "../model/verdicts.ts";
import type { CopyPlace, View } from "./view.ts";
import { answerOfSource, hold, type Hold, type NotWanted } from "./source-answer.ts";

/** Its source wants the place. `isKept`: its namespace keeps the copy, although it accepts nothing new. */
type Keep = {
  readonly kind: "wanted";
  readonly candidate: Candidate;
  readonly isKept: boolean;
};

export type CopyDecision =
  | Keep
  | Hold
  | {
      readonly kind: "unwanted";
      readonly onDelete: OnDelete;
      readonly removalReason: RemovalReason;
    };

export function decideCopy(view: View, place: CopyPlace, status: SourceStatus): CopyDecision {
  const { copy, target } = place;
  const { template } = copy;
  const { unknownMark } = template;
  if (unknownMark !== undefined)
    return hold("frozen", because("UnknownMark", { mark: unknownMark }));
  if (target.unreadable.has(copy.name)) return hold("frozen", unreadableName(copy.name));
  const frozen = frozenIn(target);
  if (frozen !== undefined) return hold("frozen", frozen);
  const wants = (entry: EntryStatus): Keep | NotWanted => keepOf(view, place, entry);
  const answer = answerOfSource(view, { record: template, target, wants }, status);
  if (answer.kind !== "unwanted") return answer;
  const removalReason = qualified(place, answer.removalReason);
  return { kind: "unwanted", onDelete: onDeleteOf(copy, status), removalReason };
}

// A copy that its namespace declines waits for less.
function qualified({ target }: CopyPlace, removalReason: RemovalReason): RemovalReason {
  if (target.accept.kind !== "none") return removalReason;
  const { reason, evidence } = removalReason;
  const isRead = evidence.some(({ kind }) => kind === "Namespace");
  const all = isRead ? evidence : [...evidence, readOfNamespace(target)];
  return { kind: "declined", reason, evidence: all };
}

function onDeleteOf({ template }: CopyObject, status: SourceStatus): OnDelete {
  if (status.kind !== "entry") return template.onDelete;
  const { onDelete, to } = status.entry.source.rule;
  return onDelete ?? (to ? "delete" : template.onDelete);
}

function keepOf(view: View, place: CopyPlace, { entry, candidate }: EntryStatus): Keep | NotWanted {
  const { copy, target } = place;
  const named = entry.source.rule.copyName === copy.name ? candidate : undefined;
  if (named) {
    const isKept = !isWanted(named, target);
    if (!isKept || keeps(view, place, named)) return { kind: "wanted", candidate: named, isKept };
  }
  const match = named ? matchOf(named, target) : "globs";
  const code = match === "declined" ? "NotAccepted" : "NoLongerWanted";
  return {
    kind: "notWanted",
    reason: because(code, { source: entry.text }),
    asks: candidate && { kind: "to", match: candidate.to, source: candidate },
    isByNamespace: match === "declined" || match === "selector",
  };
}

// Under opt-in a namespace that says nothing keeps the copies that are there, and they are kept current.
function keeps(view: View, { copy, target }: CopyPlace, { namespace, to }: Candidate): boolean {
  return (
    target.accept.kind === "kept" && namespace !== target.name && view.covers(to, copy, target)
  );
}

/** Whether a copy differs from what its source wants, or undefined where that is unknown. */
export function differsFrom({ template }: CopyObject, status: SourceStatus): boolean | undefined {
  if (status.kind !== "entry") return undefined;
  const { source, content } = status.entry;
  if (content) return template.fingerprint !== content.desiredCopy.fingerprint;
  if (source.refusedDigest === undefined) return undefined;
  return template.sourceUid !== source.uid || template.dataDigest !== source.refusedDigest;
}
