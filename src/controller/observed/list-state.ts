// The state of the source list, as it is reported: turned off, absent, not read and why,
// or read, and then what it says of objects of one kind.
import type { ListedKind, ListEntry } from "../annotations/list-entry.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { SourceList } from "../annotations/source-list.ts";
import type { ListState } from "../model/cluster.ts";
import type { ListObject } from "./read-list.ts";

/** A list whose entries do not count. */
export type UnheardList = Exclude<ListState, { state: "read" }>;

export const LIST_OFF: UnheardList = {
  state: "off",
  reason: "the source list is turned off (--source-list)",
};

export function pendingList(ref: Ref): UnheardList {
  return unheard(ref, "unread", "has not been read yet");
}

export function forbiddenList(ref: Ref): UnheardList {
  return unheard(ref, "unread", "cannot be read: the API server answers 403 (get, list, watch)");
}

/** Entries that one of two states of the list has and the other has not, or otherwise. */
export function* changedEntries(
  before: ListState | undefined,
  now: ListState | undefined,
): Generator<ListEntry, void> {
  for (const [one, other] of [
    [before, now],
    [now, before],
  ]) {
    if (one?.state !== "read") continue;
    for (const entry of one.entries())
      if (other?.state !== "read" || other.get(entry.key) !== entry) yield entry;
  }
}

/** `object`: without entries, or undefined if it does not exist. */
export function unusableList(ref: Ref, object: ListObject | undefined): UnheardList {
  if (!object) return unheard(ref, "absent", "is not there");
  return unheard(ref, "unread", `is not read: ${object.reason}`);
}

function unheard(ref: Ref, state: "absent" | "unread", what: string): UnheardList {
  return { state, reason: `the source list ${refText(ref)} ${what}` };
}

/** `list`: the entries of `object`, understood. */
export function heardList(
  ref: Ref,
  { uid, resourceVersion }: ListObject,
  list: SourceList,
  kind: ListedKind,
): ListState {
  return {
    state: "read",
    ref,
    uid,
    resourceVersion,
    get: (key) => list.get(key),
    of: (object) => list.of(kind, object),
    entries: () => list.entries(),
  };
}
