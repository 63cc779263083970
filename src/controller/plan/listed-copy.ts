// What the source list says of a copy that an entry made, or of a pulling Secret that an entry filled.
// What the list cannot answer removes nothing.
//   another list made it: it belongs to another installation   it is frozen
//   an older version did not record the list, and the key is
//   not in this list                                            it is frozen
//   the list is deleted, empty, unreadable or turned off        it is frozen
//   its entry is refused                                        it is frozen
//   the list has the entry, and it names the same source        the source decides
//   the list does not have it                                   the source decides, if it is still one by
//                                                               another entry or its own annotations, else
//                                                               the place is unwanted
import { because, type Reason } from "../model/reasons.ts";
import type { ListState } from "../model/cluster.ts";
import { type Ref, refText } from "../../text/names.ts";
import { problemText } from "../annotations/rules.ts";

/** `gone`: under this key the list does not name that source. */
export type ListAnswer =
  | { readonly kind: "kept" }
  | { readonly kind: "gone"; readonly reason: Reason }
  | { readonly kind: "frozen"; readonly reason: Reason };

export const LIST_SAYS_NOTHING: ListAnswer = { kind: "kept" };

/** The marks `entry` and `list`. */
type ListMarks = { readonly entry: string | undefined; readonly list: string | undefined };

export function answerOfList(
  list: ListState | undefined,
  source: Ref,
  { entry: key, list: madeBy }: ListMarks,
): ListAnswer {
  if (key === undefined) return LIST_SAYS_NOTHING;
  if (list?.state !== "read") return frozen(list?.reason ?? because("ListMissing"));
  const own = refText(list.ref);
  if (madeBy !== undefined && madeBy !== own) {
    return frozen(because("EntryOfOtherList", { key, other: madeBy, list: own }));
  }
  if (isEmpty(list)) {
    return frozen(because("ListEmpty", { list: own }));
  }
  const known = list.get(key);
  if (madeBy === undefined && !known) {
    return frozen(because("EntryOfUnknownList", { key, list: own }));
  }
  const problem = known?.problems[0] ?? list.of(source)?.problems[0];
  if (problem) return frozen(because("EntryRefused", { problem: problemText(problem) }));
  if (list.of(source)?.key === key) return LIST_SAYS_NOTHING;
  const reason = because("EntryRemoved", { list: own, key, source: refText(source) });
  return { kind: "gone", reason };
}

function isEmpty(list: ListState & { state: "read" }): boolean {
  return list.entries()[Symbol.iterator]().next().done === true;
}

function frozen(reason: Reason): ListAnswer {
  return { kind: "frozen", reason };
}
