// One line for reasons that differ only in the names that they contain, such as those of each tenant's quotas.
// It has their common start and end, and what differs between them.
import { listed } from "./listed.ts";

const MOST = 5;

// The failure causes with names that tenants choose. Each namespace has its own quotas.
const TENANTS_NAME = /^(quota) \S+ /;

/** The reason without the name that a tenant chose. */
export function reasonShape(reason: string): string {
  return reason.replace(TENANTS_NAME, "$1 ");
}

/** `reasons`: texts of one line. Any number of them may differ. */
export function sharedReason(reasons: Iterable<string>): string {
  const texts = [...new Set(reasons)].toSorted();
  const [first = [], ...others] = texts.map((text) => text.split(" "));
  if (others.length === 0) return texts[0] ?? "";
  const least = others.reduce((found, { length }) => Math.min(found, length), first.length);
  let start = 0;
  while (start < least && others.every((words) => words[start] === first[start])) start++;
  let end = 0;
  while (start + end < least && others.every((words) => words.at(-1 - end) === first.at(-1 - end)))
    end++;
  const names = [first, ...others]
    .slice(0, MOST)
    .map((words) => words.slice(start, words.length - end).join(" "))
    .filter((name) => name !== "");
  const rest = Math.max(0, texts.length - MOST);
  const middle = listed(names, MOST, { count: names.length + rest });
  return [...first.slice(0, start), middle, ...first.slice(first.length - end)].join(" ");
}
