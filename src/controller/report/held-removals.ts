// What Events say of removals that are held: where, why, when they are made, and what prevents them. Copies
// whose source no longer exists have no object of a user's to be reported on: of each condition there is one
// Event on the controller's Lease. What an entry of the source list made is reported on the list.
import { isDataKey, type Ref, refText } from "../../text/names.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { RemovalHoldCause, Row } from "../model/verdicts.ts";

export type HeldRemovals = {
  readonly kind: ObjectKind;
  readonly source: Ref;
  readonly hold: RemovalHoldCause;
  /** `source`: on the source itself, which exists. */
  readonly on: "source" | "list" | "lease";
  /** Of `list`: the key of the entry that made the copies. */
  readonly entry: string | undefined;
  /** The first of them to be removed. */
  readonly first: Row;
  readonly namespaces: readonly string[];
  /** Of `lease`: the other sources that no longer exist, held for the same reason. */
  readonly sources: readonly Ref[];
};

/** `hasList`: an Event can be on the list. In the order of the rows. */
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

// A copy may carry any text as its entry.
function objectOf({ entry, lost }: Row, hasList: boolean): HeldRemovals["on"] {
  if (hasList && entry !== undefined && isDataKey(entry)) return "list";
  return lost === true ? "lease" : "source";
}

const MOST_SOURCES = 3;

/** `where`: the namespaces, as they may be named. When they are removed follows. */
export function heldText({ first, sources }: HeldRemovals, where: string): string {
  const others = sources.slice(0, MOST_SOURCES).map(refText).join(", ");
  const rest = sources.length - MOST_SOURCES;
  const of = sources.length > 1 ? `; sources: ${others}${rest > 0 ? ` and ${rest} more` : ""}` : "";
  return `not deleted in ${where}${of}: ${first.reason}`;
}
