// The three refusals that share the verdict `conflict`, each in its own words: another source has the
// place, a Secret that is not ours is in the way, a pulling Secret is not filled.
import { adoptionHint, type Row } from "../core/model/verdicts.ts";
import { refText } from "../core/annotations/names.ts";

export type ConflictKind = "source" | "stranger" | "pull";

export function conflictKind({ pulling, winner }: Row): ConflictKind {
  if (pulling) return "pull";
  return winner ? "source" : "stranger";
}

export const CONFLICT_LINES: Readonly<Record<ConflictKind, string>> = {
  source: "in conflict with another source",
  stranger: "in conflict with Secrets that are not ours",
  pull: "pulling Secret not filled",
};

const MOST_WINNERS = 3;

/** Why a source is not copied to places; `rows` are its own, of one kind. `mayName`: other namespaces. */
export function conflictReason(rows: readonly Row[], mayName: boolean): string {
  const winners = new Set(rows.flatMap(({ winner }) => (winner ? [refText(winner)] : [])));
  if (winners.size > 0) return winnersText([...winners], mayName);
  const reasons = new Set(rows.map(({ reason }) => reason));
  const [only] = reasons;
  if (mayName && reasons.size === 1 && only !== undefined) return only;
  const [first] = rows;
  return first ? adoptionHint(first.kind, refText(first.source)) : "";
}

function winnersText(winners: readonly string[], mayName: boolean): string {
  if (!mayName) return "another source has the place and comes first";
  const named = winners.slice(0, MOST_WINNERS).join(", ");
  const rest = winners.length - MOST_WINNERS;
  if (winners.length === 1) return `source ${named} has the place and comes first`;
  return `sources ${named}${rest > 0 ? ` and ${rest} more` : ""} have these places and come first`;
}
