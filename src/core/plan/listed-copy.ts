// What the source list says of a copy that one of its entries made, or of a pulling Secret that one
// filled. Whatever cannot be read there ends nothing.
//   the list is gone, unreadable, not understood or turned off   it stays as it is
//   its entry is refused                                         it stays as it is
//   the list has the entry, and it names the same source         the source decides
//   the list has it no more                                      the source decides, if it is still one: by
//                                                                another entry or its own annotations; else
//                                                                nothing wants the place any more
import type { ListState } from "../model/cluster.ts";
import { type Ref, refText } from "../annotations/names.ts";
import { problemText } from "../annotations/rules.ts";

/** `gone`: the list says nothing of that source any more under this key. */
export type ListAnswer =
  | { readonly kind: "kept" }
  | { readonly kind: "gone"; readonly reason: string }
  | { readonly kind: "frozen"; readonly reason: string };

/** `key`: the mark `entry`; undefined: no entry made it. */
export function answerOfList(
  list: ListState | undefined,
  source: Ref,
  key: string | undefined,
): ListAnswer {
  if (key === undefined) return { kind: "kept" };
  if (list?.state !== "read") return { kind: "frozen", reason: list?.reason ?? NO_LIST };
  const problem = list.get(key)?.problems[0] ?? list.of(source)?.problems[0];
  if (problem) return { kind: "frozen", reason: problemText(problem) };
  if (list.of(source)?.key === key) return { kind: "kept" };
  const reason = `the source list ${refText(list.ref)} has no entry ${key} for ${refText(source)}`;
  return { kind: "gone", reason };
}

const NO_LIST = "it was made by an entry of the source list, and there is none (--source-list)";
