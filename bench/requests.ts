// What the controller asks of a real API server, by that server's own audit log: one write a copy for
// a changed source and no read; from a controller with nothing to do its watches and its lease alone.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../test/support/http.ts";
import { calm, FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import type { Bench } from "./scorecard.ts";

type Requests = ReadonlyMap<string, number>;
const QUIET_MIN = 10;

export const requests: Bench = {
  name: "requests",
  about: "N writes and no read for a changed source; only watches and the lease when quiet",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const count = how.quick ? 50 : 500;
    await cluster.createNamespaces(numbered("team", count));
    await cluster.publish("first", "team-*");
    await calm();
    const controller = new Program(how, cluster.kubeconfig, {
      ...FLAGS,
      "leader-elect": "true",
      "lease-namespace": "secretcast",
    });
    await controller.said("synced");
    await delay(2000);
    const before = auditLines(cluster).length;
    const { mark } = controller;
    const value = Buffer.from("two").toString("base64");
    await cluster.send("PATCH", "/api/v1/namespaces/shared/secrets/first", { data: { value } });
    await controller.said("synced", mark);
    await delay(2000);
    const changed = requestsSince(cluster, before);
    how.say(`changed source: ${shown(changed)}`);
    how.figure({
      name: `writes for ${count} copies`,
      value: changed.get("patch secrets") ?? 0,
      unit: "",
      atLeast: count,
      atMost: count,
      exact: true,
    });
    const reads = sumOf(changed, (verb) => verb === "get" || verb === "list");
    how.figure({ name: "reads", value: reads, unit: "", atMost: 0, exact: true });
    const minutes = how.quick ? 0.2 : QUIET_MIN;
    const quietFrom = auditLines(cluster).length;
    await delay(minutes * 60_000);
    const quiet = requestsSince(cluster, quietFrom);
    how.say(`${minutes} quiet minutes: ${shown(quiet)}`);
    const rest = sumOf(quiet, (verb) => verb !== "watch");
    how.figure({
      name: `requests in ${minutes} quiet minutes, watches and lease aside`,
      value: rest,
      unit: "",
      atMost: 0,
      exact: true,
    });
  },
};

function auditLines(cluster: RealCluster): readonly string[] {
  return readFileSync(cluster.access.auditLog, "utf8").split("\n").filter(Boolean);
}

/** Answered requests of the controller's account, by verb and resource; the end of a watch is none. */
function requestsSince(cluster: RealCluster, from: number): Requests {
  const counts = new Map<string, number>();
  for (const line of auditLines(cluster).slice(from)) {
    const entry: unknown = JSON.parse(line);
    const user = String(field(entry, "user", "username"));
    if (user !== "system:serviceaccount:secretcast:secretcast") continue;
    const verb = String(field(entry, "verb"));
    const resource = String(field(entry, "objectRef", "resource"));
    if (verb === "watch" && field(entry, "stage") === "ResponseComplete") continue;
    const key = `${verb} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function sumOf(requests: Requests, counts: (verb: string) => boolean): number {
  let total = 0;
  for (const [key, count] of requests) {
    const [verb = "", what = ""] = key.split(" ");
    // The lease has its own rhythm, whatever else goes on.
    if (what !== "leases" && counts(verb)) total += count;
  }
  return total;
}

function shown(requests: Requests): string {
  return [...requests].map(([key, count]) => `${count} x ${key}`).join(", ") || "none";
}
