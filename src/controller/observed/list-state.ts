// The state of the source list, as it is reported: turned off, absent, not read and why,
// or read, and then what it says of objects of one kind.
import { because } from "../model/reasons.ts";
import type { ListedKind, ListEntry } from "../annotations/list-entry.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { SourceList } from "../annotations/source-list.ts";
import type { ListState } from "../model/cluster.ts";
import type { ListObject } from "./read-list.ts";

/** A list whose entries do not count. */
export type UnreadList = Exclude<ListState, { state: "read" }>;

export const LIST_OFF: UnreadList = {
  state: "off",
  reason: because("ListOff"),
};

export function pendingListState(ref: Ref): UnreadList {
  return { state: "unread", reason: because("ListPending", { list: refText(ref) }) };
}

export function forbiddenListState(ref: Ref): UnreadList {
  return { state: "unread", reason: because("ListForbidden", { list: refText(ref) }) };
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
export function unusableListState(ref: Ref, object: ListObject | undefined): UnreadList {
  const list = refText(ref);
  return object
    ? { state: "unread", reason: because("ListInvalid", { list, problem: object.reason }) }
    : { state: "absent", reason: because("ListAbsent", { list }) };
}

/** `list`: the entries of `object`, understood. */
export function readListState(
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
