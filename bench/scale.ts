// Up to 10,000 namespaces and 1,000 sources, on the scripted server, which is faster than a real one could be:
// starts beside 100,000 and a million right copies, and fan-outs from nothing, of 10 and of 100 sources, with
// fresh namespaces in the midst of them. docs/scale.md has the figures.
import { setTimeout as delay } from "node:timers/promises";
import { LEADER_FLAGS, numbered, RENEW_DEADLINE_S } from "./cluster.ts";
import { CopiesSeen, freshFigures, FreshNamespaces, freshOnScript } from "./fresh-namespaces.ts";
import { both, copies, sources } from "./population.ts";
import { Program } from "./program.ts";
import { ScriptedServer } from "./scripted-server.ts";
import { runParts, type Bench, type How, type Part } from "./scorecard.ts";

const PATIENCE_MS = 1_200_000;
const MIB = 2 ** 20;
/** docs/scale.md: enough for a start beside a million copies, and for a fan-out of 100,000. */
const LIMIT_MIB = 512;
/** docs/scale.md: for a fan-out of a million. */
const MILLION_LIMIT_MIB = 768;

const PARTS: Readonly<Record<string, Part>> = {
  start: (how) => cold(how, 100, 1000),
  sources: (how) => cold(how, 1000, 1000),
  cold: (how) => cold(how, 100, 10_000),
  fan: (how) => fanOf(how, 10, LIMIT_MIB),
  million: (how) => fanOf(how, 100, MILLION_LIMIT_MIB),
};

export const scale: Bench = {
  name: "scale",
  parts: Object.keys(PARTS),
  about: "starts beside 100,000 and a million right copies, and fan-outs to 10,000 namespaces",
  run: (how) => runParts(how, PARTS),
};

/** A process that comes anew where all is right. */
async function cold(how: How, ofAll: number, everywhere: number): Promise<void> {
  const [count, namespaces] = how.quick ? [ofAll / 10, 100] : [ofAll, everywhere];
  const targets = numbered("team", namespaces);
  const server = await ScriptedServer.start(how, {
    namespaces: ["shared", ...targets],
    secrets: () => both(sources(count, "team-*,fresh-*"), copies(targets, count)),
  });
  const program = new Program(how, server.kubeconfig, LEADER_FLAGS);
  const readyMs = await program.readyMs(PATIENCE_MS);
  const wanted = count * namespaces;
  const current = await until(program, wanted);
  const seconds = (performance.now() - program.startedAt) / 1000;
  how.say(`${count} sources, ${namespaces} namespaces, ${wanted} right copies`);
  how.count("copies found right", current, { atLeast: wanted });
  how.count("writes", server.writes.length, { atMost: 0 });
  how.figure("from process start to ready", readyMs / 1000, "s", { atMost: 20 });
  how.figure("from process start to the first plan's end", seconds, "s");
  how.figure("CPU until then", program.cpuMs / 1000, "s");
  how.figure("read until then", program.readBytes / MIB, "MiB");
  const seen = new CopiesSeen(server);
  const fresh = new FreshNamespaces((name) => freshOnScript(server, name, seen.firstAt));
  const before = program.cpuMs;
  await delay(how.quick ? 500 : 30_000);
  const waits = await fresh.stop();
  freshFigures(how, waits);
  const cpuMs = (program.cpuMs - before) / waits.length;
  how.figure("CPU a fresh namespace with all its copies", cpuMs, "ms");
  figures(how, server, program, LIMIT_MIB);
}

async function fanOf(how: How, ofAll: number, limitMiB: number): Promise<void> {
  const [sources, namespaces] = how.quick ? [ofAll / 10, 20] : [ofAll, 10_000];
  await fan(how, { sources, namespaces, limitMiB });
}

type Fan = Pick<Partial<ScriptedServer>, "refuse"> & {
  readonly sources: number;
  readonly namespaces: number;
  readonly limitMiB: number;
};

/** All copies are to be made; the server takes each write at once, except what it refuses. */
export async function fan(
  how: How,
  { sources: count, namespaces, limitMiB, refuse }: Fan,
): Promise<{ readonly program: Program; readonly seen: CopiesSeen }> {
  const targets = numbered("team", namespaces);
  const server = await ScriptedServer.start(how, {
    namespaces: ["shared", ...targets],
    secrets: () => sources(count, "team-*,fresh-*"),
  });
  server.refuse = refuse;
  const seen = new CopiesSeen(server);
  const program = new Program(how, server.kubeconfig, LEADER_FLAGS, limitMiB);
  await program.said("leading");
  const began = performance.now();
  const fresh = new FreshNamespaces((name) => freshOnScript(server, name, seen.firstAt));
  const wanted = count * namespaces;
  await seen.until(wanted, program, PATIENCE_MS);
  const seconds = (performance.now() - began) / 1000;
  how.say(`${count} sources, ${namespaces} namespaces, none of ${wanted} copies there`);
  how.count("copies made", seen.made, { atLeast: wanted, atMost: wanted });
  how.figure("copies/s", wanted / seconds, "1/s");
  how.figure("CPU a copy", program.cpuMs / wanted, "ms");
  freshFigures(how, await fresh.stop());
  figures(how, server, program, limitMiB);
  return { program, seen };
}

/** How many are current, when it is so many or it took too long. */
async function until(program: Program, wanted: number): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const current = await program.metric("secretcast_copies", 'state="current"');
    if (current >= wanted || performance.now() > deadline) return current;
    await delay(500);
  }
}

function figures(how: How, server: ScriptedServer, program: Program, limitMiB: number): void {
  const { rssMiB, peakMiB } = program.memory;
  how.figure("longest between two renewals of the Lease", server.longestLeaseGapMs / 1000, "s", {
    atMost: RENEW_DEADLINE_S,
  });
  how.figure("RSS", rssMiB, "MiB");
  how.figure("RSS at the peak", peakMiB, "MiB", { atMost: limitMiB });
}
