// What Events say. A message names at most five namespaces, and only to readers who may learn them. It quotes
// nothing of objects that its reader may not read. The owner of a pulling object may read neither the source,
// the source list nor the flags. Pure.
import { placeKey } from "../model/kinds.ts";
import { because, reasonText } from "../model/reasons.ts";
import { noSource, offerCommand, type RemovalHoldCause, type Row } from "../model/verdicts.ts";
import type { Action } from "../model/actions.ts";
import { FAILURE_CAUSES } from "../../../packages/kube/rest/failure-cause.ts";
import { listed } from "../../text/listed.ts";
import { isDataKey, refText, type Ref } from "../../text/names.ts";
import { sharedReason } from "../../text/shared-reason.ts";
import type { SourceEvent } from "./event-states.ts";
import type { Place } from "./notices.ts";
import type { OutcomeGroup } from "./outcome-journal.ts";
import type { FailingPlace } from "./troubles.ts";

type At = { readonly place: Pick<Ref, "namespace"> };

const MOST_CAUSES = 3;
const MOST_SOURCES = 3;

/** What an Event on the source list begins with. */
export function prefixOf(entry: string | undefined): string {
  return entry === undefined ? "" : `entry ${entry}: `;
}

/** `named`: whether the reader may learn the names. */
export function namespacesText(namespaces: Iterable<string>, named: boolean): string {
  const each = [...new Set(namespaces)].toSorted();
  const count = `${each.length} namespace${each.length === 1 ? "" : "s"}`;
  return named ? `${count} (${listed(each)})` : count;
}

export function whereText(places: readonly At[], named: boolean): string {
  const namespaces = places.map(({ place }) => place.namespace);
  return namespacesText(namespaces, named);
}

/**
 * Why a source is not copied to places, for readers in its namespace. `rows` are its own rows, of one kind.
 * `mayRead`: whether such a reader may read what is in this namespace.
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
  const names = [...new Set(winners.map(refText))];
  if (names.length === 1) return `source ${names.join("")} has the place and comes first`;
  return `sources ${listed(names, MOST_SOURCES)} have these places and come first`;
}

/**
 * `groups`: places that fail for one reason. Unless namespaces may be `named`, objects in them, such as quotas,
 * are not named either. A change of `summary` is reported at once.
 */
export function failureText(
  groups: readonly (readonly FailingPlace[])[],
  named: boolean,
  done: "written" | "removed" = "written",
): { readonly note: string; readonly summary: string } {
  const meanings: Readonly<Record<string, string>> = FAILURE_CAUSES;
  const reasons = groups.map((places) => sharedReason(places.map(({ reason }) => reason)));
  const causes = Map.groupBy(groups.keys(), (at) => {
    const { cause = "" } = groups[at]?.[0] ?? {};
    return `${named ? reasons[at] : (meanings[cause] ?? "")} (cause: ${cause})`;
  });
  const sorted = [...causes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts = sorted.slice(0, MOST_CAUSES).map(([cause, members]) => {
    const where = members.flatMap((at) => groups[at] ?? []);
    return `in ${whereText(where, named)}: ${cause}`;
  });
  const of = sorted.length === MOST_CAUSES + 1 ? "cause" : "causes";
  const all = listed(parts, MOST_CAUSES, { between: "; ", count: sorted.length, of });
  const note = `could not be ${done} ${all}; will try again`;
  return { note, summary: reasons.toSorted().join() };
}

export type HeldRemovals = {
  readonly hold: RemovalHoldCause;
  /** If the source no longer exists, there is no user's object to report on. */
  readonly on: "source" | "list" | "lease";
  /** For `list`: the key of the entry that made the copies. */
  readonly entry: string | undefined;
  /** The first copy to be removed. */
  readonly first: Row;
  readonly rows: readonly Row[];
  /** For `lease`: the sources that no longer exist. */
  readonly sources: readonly Ref[];
};

/**
 * Removals that one condition holds: those of one source, or of all sources that no longer exist. `hasList`: an Event
 * can be on the list. The result has the order of the rows.
 */
export function heldRemovals(rows: readonly Row[], hasList: boolean): readonly HeldRemovals[] {
  // Any text can be the entry of a copy.
  const objectOf = ({ removal }: Row): HeldRemovals["on"] => {
    const { entry, lost } = removal ?? {};
    if (hasList && entry !== undefined && isDataKey(entry)) return "list";
    return lost === true ? "lease" : "source";
  };
  const groups = Map.groupBy(rows, (row) => {
    const on = objectOf(row);
    if (on === "lease") return on;
    const { hold, entry = "" } = row.removal ?? {};
    return `${on} ${hold} ${placeKey(row.kind, row.source)} ${entry}`;
  });
  return [...groups.values()].flatMap((members) => {
    const first = members.reduce((a, b) => ((b.dueAt ?? Infinity) < (a.dueAt ?? Infinity) ? b : a));
    const { hold, entry: made } = first.removal ?? {};
    if (hold === undefined) return [];
    const on = objectOf(first);
    const entry = on === "list" ? made : undefined;
    const lost = on === "lease" ? members : [];
    const sources = new Map(lost.map((row) => [placeKey(row.kind, row.source), row.source]));
    return [{ hold, on, entry, first, rows: members, sources: [...sources.values()] }];
  });
}

/** `where`: the namespaces, as they may be named. The caller appends when they are removed. */
export function heldText({ first, sources }: HeldRemovals, where: string): string {
  const named = sources.slice(0, MOST_SOURCES).map(refText);
  const others = listed(named, MOST_SOURCES, { count: sources.length });
  const of = sources.length > 1 ? `; sources: ${others}` : "";
  return `not deleted in ${where}${of}: ${reasonText(first.reason)}`;
}

/** The Event of a write that was made. Undefined if it was not on a pulling object. */
export function filledEvent(action: Action): SourceEvent | undefined {
  if (action.kind !== "fill" && action.kind !== "clear") return undefined;
  const { objectKind: kind, place: on, source, target } = action;
  const event = { kind, on, uid: target.uid, type: "Normal" } as const;
  if (action.kind === "clear") {
    const what = target.onDelete === "keep" ? "left it to its owner" : "removed its content";
    const note = `${what}: ${reasonText(noSource(source))}`;
    return { ...event, reason: "Removed", note };
  }
  const note = `filled from ${refText(source)}`;
  return { ...event, reason: "Copied", note };
}

/** `takenFrom`: sources that had the places before. They are named to readers who may learn names. */
export function copiedText(
  { namespaces, taken, takenFrom }: Pick<OutcomeGroup, "namespaces" | "taken" | "takenFrom">,
  named: boolean,
): string {
  const text = `copied to ${namespacesText(namespaces, named)}`;
  if (taken === 0) return text;
  const from = named ? listed([...takenFrom], MOST_SOURCES) : "another source";
  return `${text}; takes ${taken} place${taken === 1 ? "" : "s"} over from ${from}`;
}

export function removedText(
  { what, namespaces, reason }: Pick<OutcomeGroup, "what" | "namespaces" | "reason">,
  named: boolean,
): string {
  const where = namespacesText(namespaces, named);
  const text = what === "release" ? `left to ${where} (on-delete: keep)` : `removed from ${where}`;
  return `${text}: ${reason}`;
}

type PullWarning = Pick<SourceEvent, "reason" | "note">;

// A row's `reason` and what would prevent a removal are left out. A failed write follows from the source's
// consent or the record on the object, and its cause is at the place.
export function pullWarning(place: Place): PullWarning {
  if ("trouble" in place && place.trouble === "failed") {
    const why = `${place.reason} (cause: ${place.cause})`;
    return { reason: "Failed", note: `its entries could not be written: ${why}; will try again` };
  }
  if ("trouble" in place) return { reason: "Fought", note: FOUGHT_PULL };
  const { verdict, source, forOwner } = place;
  const none = noSource(source);
  if (verdict === "held")
    return { reason: "Held", note: `its entries stay for now: ${reasonText(none)}` };
  const reason = forOwner?.kind === "taken" ? "Conflict" : "Refused";
  return { reason, note: reasonText(forOwner?.reason ?? none) };
}

const FOUGHT_PULL = "its filled entries are repeatedly changed by another client";
