// The text of the three refusals that share the verdict `conflict`: another source has the place, an
// unmanaged Secret is in the way, or a pulling Secret is not filled.
import { listed } from "../../text/listed.ts";
import { because, reasonText } from "../model/reasons.ts";
import { offerCommand, type Row } from "../model/verdicts.ts";
import { refText } from "../../text/names.ts";

export type ConflictKind = "source" | "unmanaged" | "pull";

export function conflictKind({ pulling, winner }: Row): ConflictKind {
  if (pulling) return "pull";
  return winner ? "source" : "unmanaged";
}

export const CONFLICT_LINES: Readonly<Record<ConflictKind, string>> = {
  source: "in conflict with another source",
  unmanaged: "in conflict with unmanaged Secrets",
  pull: "pulling Secret not filled",
};

const MOST_WINNERS = 3;

/**
 * Why a source is not copied to places, for readers in its namespace. `rows` are its own rows, of one kind. The
 * text quotes nothing from other namespaces. `mayRead`: whether such a reader may read what is in this
 * namespace.
 */
export function conflictReason(
  rows: readonly Row[],
  mayRead: (namespace: string) => boolean,
): string {
  const [first] = rows;
  if (!first) return "";
  if (!first.winner) {
    const { kind, source } = first;
    const command = offerCommand(kind, refText(source));
    return reasonText(because("ObjectInTheWay", { kind, command }));
  }
  const winners = rows.flatMap(({ winner }) => winner ?? []);
  if (!winners.every(({ namespace }) => mayRead(namespace)))
    return "another source has the place and comes first";
  return winnersText([...new Set(winners.map(refText))]);
}

function winnersText(winners: readonly string[]): string {
  const named = listed(winners, MOST_WINNERS);
  if (winners.length === 1) return `source ${named} has the place and comes first`;
  return `sources ${named} have these places and come first`;
}
