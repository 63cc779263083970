// Memory and the time of the first list, in one cluster of foreign Secrets and one of correct copies,
// above what an idle controller takes. The real server leaves Helm releases out by field selector, so
// they cost the controller nothing and are not sent here either; the
// selector itself is not measured here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { FLAGS, numbered } from "./cluster.ts";
import { both, copies, foreign, sources } from "./population.ts";
import { Program } from "./program.ts";
import { ScriptedServer } from "./scripted-server.ts";
import type { Bench, How } from "./scorecard.ts";

const SETTLE_MS = 5000;

export const memory: Bench = {
  name: "memory",
  about: "RSS with 100,000 foreign Secrets, with 100,000 copies, and the first list against curl",
  async run(how) {
    const count = how.quick ? 5000 : 100_000;
    const namespaces = ["shared", ...numbered("team", 1000)];
    const idle = await occupy(how, "idle", { namespaces, secrets: () => [] });
    how.figure({ name: "RSS, idle", value: idle.rssMiB, unit: "MiB" });
    const strangers = await occupy(how, "foreign", {
      namespaces,
      secrets: () => foreign(namespaces, count),
    });
    const above = (rss: number): number => rss - idle.rssMiB;
    how.figure({
      name: `RSS above idle, ${count} foreign Secrets`,
      value: above(strangers.rssMiB),
      unit: "MiB",
      atMost: 100,
    });
    how.figure({
      name: "RSS at the peak of the first list",
      value: strangers.peakMiB,
      unit: "MiB",
      atMost: 384,
    });
    how.figure({ name: "first list, ready after", value: strangers.readyMs, unit: "ms" });
    how.figure({ name: "curl reads the same list in", value: strangers.curlMs, unit: "ms" });
    const targets = namespaces.slice(1);
    const each = count / targets.length;
    const ours = await occupy(how, "copies", {
      namespaces,
      secrets: () => both(sources(each, "team-*"), copies(targets, each)),
    });
    how.figure({
      name: `RSS above idle, ${count} copies of ${each} sources`,
      value: above(ours.rssMiB),
      unit: "MiB",
      atMost: 200,
    });
  },
};

type Occupied = {
  readonly rssMiB: number;
  readonly peakMiB: number;
  readonly readyMs: number;
  readonly curlMs: number;
};

async function occupy(
  how: How,
  name: string,
  script: ConstructorParameters<typeof ScriptedServer>[0],
): Promise<Occupied> {
  const server = await ScriptedServer.start(how, script);
  const program = new Program(how, server.kubeconfig, { ...FLAGS, resync: "2s" });
  const filled = await program.said("caches filled", 0, 300_000);
  const begun = await program.said("starting informers");
  // Several passes, so that what a pass leaves behind is in it.
  await delay(how.quick ? 500 : SETTLE_MS);
  const used = program.memory;
  how.say(`${name}: ${used.rssMiB.toFixed(0)} MiB, at the peak ${used.peakMiB.toFixed(0)} MiB`);
  await program.stop();
  return { ...used, readyMs: filled.at - begun.at, curlMs: await curl(server.url) };
}

async function curl(url: string): Promise<number> {
  const began = performance.now();
  const child = spawn("curl", ["-s", "-o", "/dev/null", `${url}/api/v1/secrets`]);
  await once(child, "exit");
  return performance.now() - began;
}
