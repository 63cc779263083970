// 10,000 updates of foreign Secrets a second, and in the midst of them namespaces that want a copy.
import { setTimeout as delay } from "node:timers/promises";
import { FLAGS, numbered } from "./cluster.ts";
import { CopiesSeen, freshOnScript } from "./fresh-namespaces.ts";
import { both, foreign, foreignSecret, sources } from "./population.ts";
import { Program } from "./program.ts";
import { eventLine, ScriptedServer } from "./scripted-server.ts";
import { median, type Bench } from "./scorecard.ts";

const A_SECOND = 10_000;
const TICKS_A_SECOND = 50;
const FOREIGN = 10_000;
const LAG = "nodejs_eventloop_lag_p99_seconds";

export const storm: Bench = {
  name: "storm",
  about: "10,000 updates of foreign Secrets a second: CPU, event loop, a fresh namespace's copy",
  async run(how) {
    const seconds = how.quick ? 3 : 20;
    const namespaces = ["shared", ...numbered("other", 100)];
    const server = await ScriptedServer.start(how, {
      namespaces,
      secrets: () => both(sources(1, "team-*"), foreign(namespaces, FOREIGN)),
    });
    const seen = new CopiesSeen(server);
    const program = new Program(how, server.kubeconfig, FLAGS);
    await program.said("started worker");
    await delay(1000);
    await program.metric(LAG); // each reading begins a new measurement
    const calm = await freshNamespaces(server, seen, "calm", how.quick ? 3 : 9);
    const calmLagMs = 1000 * (await program.metric(LAG));
    const storming = { on: true, sent: 0 };
    const blowing = blow(server, namespaces, storming);
    await delay(1000);
    await program.metric(LAG);
    const [cpu, began, sent] = [program.cpuMs, performance.now(), storming.sent];
    const stormy: number[] = [];
    while (performance.now() - began < seconds * 1000)
      stormy.push(...(await freshNamespaces(server, seen, `storm-${stormy.length}`, 1)));
    const took = performance.now() - began;
    const [used, events] = [program.cpuMs - cpu, storming.sent - sent];
    const lagMs = 1000 * (await program.metric(LAG));
    storming.on = false;
    await blowing;
    how.figure("events sent", (1000 * events) / took, "1/s", { atLeast: 0.95 * A_SECOND });
    how.figure("CPU, of one core", used / took, "cores", { atMost: 1 });
    how.figure("a fresh namespace's copy, calm", median(calm), "ms");
    how.figure(
      "a fresh namespace's copy, delayed by the storm",
      median(stormy) - median(calm),
      "ms",
      { atMost: 250 },
    );
    how.figure("event loop delay before it, p99", calmLagMs, "ms");
    how.figure("event loop delay, p99", lagMs, "ms", { atMost: 50 });
  },
};

async function blow(
  server: ScriptedServer,
  namespaces: readonly string[],
  storming: { on: boolean; sent: number },
): Promise<void> {
  const began = performance.now();
  while (storming.on) {
    const due = ((performance.now() - began) / 1000) * A_SECOND;
    let lines = "";
    for (; storming.sent < due; storming.sent++) {
      const at = storming.sent % FOREIGN;
      const namespace = namespaces[at % namespaces.length] ?? "";
      lines += eventLine("MODIFIED", foreignSecret(namespace, at, server.nextVersion()));
    }
    // What the controller cannot take is sent later: the rate falls, and the figure shows it.
    if (!server.emit("secrets", lines)) await server.drained("secrets");
    await delay(1000 / TICKS_A_SECOND);
  }
}

/** Milliseconds from telling of a namespace until the write of its copy came in, one by one. */
async function freshNamespaces(
  server: ScriptedServer,
  { firstAt }: CopiesSeen,
  base: string,
  count: number,
): Promise<readonly number[]> {
  const took: number[] = [];
  for (const name of numbered(`team-${base}`, count)) {
    took.push(await freshOnScript(server, name, firstAt));
    await delay(100);
  }
  return took;
}
