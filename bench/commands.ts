// The command line beside the start of Node itself: from the shell's word to the last line, on a
// cluster of 100 namespaces; and what `plan` takes of memory in one of 100,000 Secrets. Unbundled, as the
// npm package is: that is what people have.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { numbered } from "./cluster.ts";
import { unbundledCommand } from "./image.ts";
import { both, copies, foreign, sources } from "./population.ts";
import { cpuMs, memory } from "./proc.ts";
import { ScriptedServer } from "./scripted-server.ts";
import { liveLease } from "../test/support/cli/sandbox-cluster.ts";
import { median, scoped, type Bench, type How } from "./scorecard.ts";

const ROUNDS = 11;
const SAMPLE_MS = 20;

type Ended = {
  readonly ms: number;
  readonly cpuMs: number;
  readonly code: number | null;
  readonly peakMiB: number;
};

export const commands: Bench = {
  name: "commands",
  about: "plan and status from start to end beside a bare Node, and plan's memory",
  async run(how) {
    await scoped(how, quickness);
    await scoped(how, appetite);
  },
};

async function quickness(how: How): Promise<void> {
  const targets = numbered("team", 99);
  const secrets = (): Iterable<string> => both(sources(20, "team-*"), copies(targets, 20));
  const server = await ScriptedServer.start(how, { namespaces: ["shared", ...targets], secrets });
  server.holdLease(liveLease());
  const rounds = how.quick ? 1 : ROUNDS;
  const times: Record<string, number[]> = { node: [], plan: [], status: [] };
  const spent: Record<string, number[]> = { plan: [], status: [] };
  for (let at = 0; at < rounds; at++) {
    times["node"]?.push((await run(["-e", "0"])).ms);
    for (const command of ["plan", "status"]) {
      const {
        ms,
        cpuMs: cpu,
        code,
      } = await run([...unbundledCommand(), command, ...wordsFor(server)]);
      if (code !== 0) throw new Error(`${command} ended with ${code}`);
      times[command]?.push(ms);
      spent[command]?.push(cpu);
    }
  }
  const bare = median(times["node"] ?? []);
  how.figure("bare Node, from start to end", bare, "ms");
  for (const command of ["plan", "status"]) {
    const ms = median(times[command] ?? []);
    how.figure(`${command} of 100 namespaces`, ms, "ms", { atMost: 400 });
    const cpu = median(spent[command] ?? []);
    // For comparison: on a busy machine the time above says little, and CPU is that of two cores at once.
    how.figure(`${command} of 100 namespaces, CPU`, cpu, "ms");
    how.figure(`${command}, times a bare Node`, ms / bare, "");
  }
}

async function appetite(how: How): Promise<void> {
  const total = how.quick ? 5000 : 100_000;
  const targets = numbered("team", how.quick ? 100 : 1000);
  const many = { namespaces: ["shared", ...targets], secrets: () => foreign(targets, total) };
  const foreigners = await run([
    ...unbundledCommand(),
    "plan",
    ...wordsFor(await ScriptedServer.start(how, many)),
  ]);
  how.figure(`plan's peak, ${total} foreign Secrets`, foreigners.peakMiB, "MiB", { atMost: 250 });
  const perSource = total / targets.length;
  const secrets = (): Iterable<string> =>
    both(sources(perSource, "team-*"), copies(targets, perSource));
  const server = await ScriptedServer.start(how, { namespaces: ["shared", ...targets], secrets });
  const copied = await run([...unbundledCommand(), "plan", ...wordsFor(server)]);
  how.figure(`plan's peak, ${total} copies`, copied.peakMiB, "MiB", { atMost: 250 });
  how.count("which it found current: exit code", copied.code ?? -1, { atMost: 0 });
  how.figure(`plan of ${total} copies`, copied.ms / 1000, "s");
}

function wordsFor({ kubeconfig }: ScriptedServer): readonly string[] {
  return ["--kubeconfig", kubeconfig, "--source-namespaces", "shared"];
}

async function run(words: readonly string[]): Promise<Ended> {
  const began = performance.now();
  const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "ignore"] });
  const { pid = 0 } = child;
  let peakMiB = 0;
  let spentMs = 0;
  // The peak is gone with the process: it is looked at while it runs.
  const sampling = setInterval(() => {
    try {
      spentMs = cpuMs(pid);
      peakMiB = Math.max(peakMiB, memory(pid).peakMiB || 0);
    } catch {
      // It has just ended.
    }
  }, SAMPLE_MS);
  const [code] = (await once(child, "exit")) as [number | null];
  clearInterval(sampling);
  return { ms: performance.now() - began, cpuMs: spentMs, code, peakMiB };
}
