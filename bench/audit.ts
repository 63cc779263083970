// What the controller's account asked of a real API server, by that server's own audit log.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { ACCOUNT } from "../test/support/api-server/account.ts";
import { field } from "../packages/sandbox/testing/http.ts";
import type { RealCluster } from "./cluster.ts";

/** How many, by "VERB RESOURCE". */
export type Requests = ReadonlyMap<string, number>;

/** Where the log ends now, for `requestsSince`. */
export function auditMark({ access }: RealCluster): number {
  return statSync(access.auditLog).size;
}

/** Answered requests since `mark`; the end of a watch is none. */
export function requestsSince({ access }: RealCluster, mark: number): Requests {
  const counts = new Map<string, number>();
  for (const line of textFrom(access.auditLog, mark).split("\n").filter(Boolean)) {
    const entry: unknown = JSON.parse(line);
    if (String(field(entry, "user", "username")) !== ACCOUNT) continue;
    const verb = String(field(entry, "verb"));
    const resource = String(field(entry, "objectRef", "resource"));
    if (verb === "watch" && field(entry, "stage") === "ResponseComplete") continue;
    const key = `${verb} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function textFrom(file: string, offset: number): string {
  const open = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(fstatSync(open).size - offset);
    readSync(open, bytes, 0, bytes.length, offset);
    // The last line may be in the writing.
    return bytes.toString("utf8", 0, bytes.lastIndexOf("\n"));
  } finally {
    closeSync(open);
  }
}

/** All but the lease's, which has its own rhythm whatever else goes on. */
export function sumOf(requests: Requests, counts: (verb: string) => boolean): number {
  let total = 0;
  for (const [key, count] of requests) {
    const [verb = "", what = ""] = key.split(" ");
    if (what !== "leases" && counts(verb)) total += count;
  }
  return total;
}

export function shown(requests: Requests): string {
  return [...requests].map(([key, count]) => `${count} x ${key}`).join(", ") || "none";
}
