// The table of explored domains, and which counts must not be 0: a domain that closes without a single
// removal has shown nothing about removals.
import type { Domain } from "./domains.ts";
import type { Explored } from "./explore.ts";

const COUNTS = [
  ...(["states", "transitions", "kills", "pairs", "unseen", "requests"] as const),
  ...(["writes", "removals", "refused"] as const),
];

export const COLUMNS = row("domain", [...COUNTS, "closed", "seconds"]);

export const rowOf = (result: Explored): string =>
  row(result.domain, [
    ...COUNTS.map((count) => String(result[count])),
    result.closed ? "yes" : "NO",
    result.seconds.toFixed(1),
  ]);

/** What should not be 0, or is not closed; not of a domain that a failure ended. */
export function zerosOf({ disturbed, never = [] }: Domain, result: Explored): readonly string[] {
  if (result.failures.length > 0) return [];
  const none: readonly string[] = [
    ...never,
    ...(disturbed.requests ? [] : ["kills", "refused"]),
    ...(disturbed.second || disturbed.unseen ? [] : ["pairs"]),
    ...(disturbed.unseen ? [] : ["unseen"]),
  ];
  const zeros = COUNTS.filter((count) => result[count] === 0 && !none.includes(count));
  return [
    ...zeros.map((count) => `${result.domain}: the number of ${count} is 0`),
    ...(result.closed ? [] : [`${result.domain}: it is not closed`]),
  ];
}

function row(first: string, rest: readonly string[]): string {
  return [first.padEnd(16), ...rest.map((text) => text.padStart(12))].join("");
}
