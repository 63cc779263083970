// What the controller asks of a real API server, by that server's own audit log: one write a copy for
// a changed source and no read; from a controller with nothing to do its watches and its lease alone.
import { setTimeout as delay } from "node:timers/promises";
import { auditMark, requestsSince, shown, sumOf } from "./audit.ts";
import { calm, LEADER_FLAGS, numbered, realCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import type { Bench } from "./scorecard.ts";

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
    const controller = new Program(how, cluster.kubeconfig, LEADER_FLAGS);
    await controller.said("synced");
    await delay(2000);
    const before = auditMark(cluster);
    const { mark } = controller;
    const value = Buffer.from("two").toString("base64");
    await cluster.send("PATCH", "/api/v1/namespaces/shared/secrets/first", { data: { value } });
    await controller.said("synced", mark);
    await delay(2000);
    const changed = requestsSince(cluster, before);
    how.say(`changed source: ${shown(changed)}`);
    how.count(`writes for ${count} copies`, changed.get("patch secrets") ?? 0, {
      atLeast: count,
      atMost: count,
    });
    const reads = sumOf(changed, (verb) => verb === "get" || verb === "list");
    how.count("reads", reads, { atMost: 0 });
    const minutes = how.quick ? 0.05 : QUIET_MIN;
    const quietFrom = auditMark(cluster);
    await delay(minutes * 60_000);
    const quiet = requestsSince(cluster, quietFrom);
    how.say(`${minutes} quiet minutes: ${shown(quiet)}`);
    const rest = sumOf(quiet, (verb) => verb !== "watch");
    how.count(`requests in ${minutes} quiet minutes, watches and lease aside`, rest, { atMost: 0 });
  },
};
