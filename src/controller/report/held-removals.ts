// The content of Events for held removals: where, why, when they are made, and what prevents them. If the source
// no longer exists, there is no user's object to report on. Then each condition has one Event on the
// controller's Lease. Removals of copies that a source list entry made are reported on the list.
import { listed } from "../../text/listed.ts";
import { reasonText } from "../model/reasons.ts";
import { isDataKey, type Ref, refText } from "../../text/names.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { RemovalHoldCause, Row } from "../model/verdicts.ts";

export type HeldRemovals = {
  readonly kind: ObjectKind;
  readonly source: Ref;
  readonly hold: RemovalHoldCause;
  /** `source`: the source itself, which exists. */
  readonly on: "source" | "list" | "lease";
  /** For `list`: the key of the entry that made the copies. */
  readonly entry: string | undefined;
  /** The first copy to be removed. */
  readonly first: Row;
  readonly namespaces: readonly string[];
  /** For `lease`: the other sources that no longer exist, held for the same reason. */
  readonly sources: readonly Ref[];
};

/** `hasList`: an Event can be on the list. The result has the order of the rows. */
export function heldRemovals(rows: readonly Row[], hasList: boolean): readonly HeldRemovals[] {
  const held = rows.filter(({ verdict, hold }) => verdict === "held" && hold !== undefined);
  const groups = Map.groupBy(held, (row) => {
    const on = objectOf(row, hasList);
    const of = on === "lease" ? "" : `${placeKey(row.kind, row.source)} ${row.entry ?? ""}`;
    return `${on} ${row.hold} ${of}`;
  });
  return [...groups.values()].flatMap((members) => {
    const first = members.reduce((a, b) => ((b.dueAt ?? Infinity) < (a.dueAt ?? Infinity) ? b : a));
    const { kind, source, hold, entry } = first;
    if (hold === undefined) return [];
    const on = objectOf(first, hasList);
    const sources = new Map(members.map((row) => [placeKey(row.kind, row.source), row.source]));
    return [
      {
        kind,
        source,
        hold,
        on,
        entry: on === "list" ? entry : undefined,
        first,
        namespaces: [...new Set(members.map(({ place }) => place.namespace))].toSorted(),
        sources: on === "lease" ? [...sources.values()] : [],
      },
    ];
  });
}

// Any text can be the entry of a copy.
function objectOf({ entry, lost }: Row, hasList: boolean): HeldRemovals["on"] {
  if (hasList && entry !== undefined && isDataKey(entry)) return "list";
  return lost === true ? "lease" : "source";
}

const MOST_SOURCES = 3;

/** `where`: the namespaces, as they may be named. The caller appends when they are removed. */
export function heldText({ first, sources }: HeldRemovals, where: string): string {
  const named = sources.slice(0, MOST_SOURCES).map(refText);
  const others = listed(named, MOST_SOURCES, { count: sources.length });
  const of = sources.length > 1 ? `; sources: ${others}` : "";
  return `not deleted in ${where}${of}: ${reasonText(first.reason)}`;
}
