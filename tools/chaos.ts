// npm run chaos -- [--minutes 1] [--seed N] [--draw N] [--runs N] [--jobs 1] [--cluster]: random scripts of
// users, tenants, faults and restarts against the controller, on an API server in memory and a fake clock,
// or by --cluster on a control plane that is started here, in real time. With --failed first every seed
// that ever failed. Exit code 1 and a script, in memory a shrunk one, when something was wrong; 3 where no
// control plane can be had. Each of several jobs is a process with seeds of its own. --draw: what a
// seed means; an older one for a seed that failed by that.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { chaos, replay } from "../test/campaign/chaos.ts";
import { clusterChaos } from "../test/campaign/cluster-chaos.ts";
import { NEWEST_DRAW } from "../test/campaign/scripts/draw.ts";
import { FAILED_SEEDS } from "../test/campaign/scripts/failed-seeds.ts";
import { withClusterAssets } from "./cluster-assets.ts";
import { wordsOf } from "./words.ts";

const { values } = wordsOf(import.meta.filename, {
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    draw: { type: "string", default: String(NEWEST_DRAW) },
    runs: { type: "string" },
    jobs: { type: "string", default: "1" },
    failed: { type: "boolean", default: false },
    cluster: { type: "boolean", default: false },
  },
});
// Faults make errors by the thousand, and nobody reads where each was made.
Error.stackTraceLimit = 1;
const SEEDS_A_JOB = 100_000;
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const draw = Number(values.draw);
const runs = Number(values.runs ?? "0");
const jobs = Number(values.jobs);
const counts = [seed, draw - 1, NEWEST_DRAW - draw, runs, jobs - 1];
if (!(minutes > 0) || !counts.every((count) => Number.isInteger(count) && count >= 0)) {
  process.stderr.write(
    `chaos: --minutes wants a number above 0, --seed, --runs and --jobs a whole number, --draw one to ${NEWEST_DRAW}\n`,
  );
  process.exit(1);
}
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const options = { minutes, seed, draw, runs: runs || Number.POSITIVE_INFINITY, print };
if (values.cluster) process.exitCode = await onCluster();
else process.exitCode = (await inMemory()) ? 0 : 1;

async function inMemory(): Promise<boolean> {
  // The older ones first: whoever broke what was right once need not wait.
  if (values.failed && !(await replay(FAILED_SEEDS, print))) return false;
  return jobs > 1 ? inJobs() : chaos(options);
}

/** 3 where no control plane can be had. */
function onCluster(): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`chaos: ${line}\n`);
  return withClusterAssets(say, async (folder) => ((await clusterChaos(folder, options)) ? 0 : 1));
}

async function inJobs(): Promise<boolean> {
  const ends = Array.from({ length: jobs }, async (_, job) => {
    const own = [
      "--minutes",
      minutes,
      "--draw",
      draw,
      "--runs",
      runs,
      "--seed",
      seed + job * SEEDS_A_JOB,
    ];
    const args = [fileURLToPath(import.meta.url), ...own.map(String)];
    const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit")) as [
      number | null,
    ];
    return code === 0;
  });
  return (await Promise.all(ends)).every(Boolean);
}
