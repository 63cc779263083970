// npm run chaos -- [--minutes 1] [--seed N] [--runs N] [--jobs 1] [--cluster]: random scripts of users,
// tenants, faults and restarts against the controller, on an API server in memory and a fake clock, or by
// --cluster on a control plane that is started here, in real time. Exit code 1 and a script, in memory a
// shrunk one, when something was wrong; 3 where no control plane can be had. Each of several jobs is a
// process with seeds of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chaos } from "../test/chaos/chaos.ts";
import { clusterChaos } from "../test/chaos/cluster-chaos.ts";
import { clusterAssets } from "./cluster-assets.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    runs: { type: "string" },
    jobs: { type: "string", default: "1" },
    cluster: { type: "boolean", default: false },
  },
});
// Faults make errors by the thousand, and nobody reads where each was made.
Error.stackTraceLimit = 1;
const SEEDS_A_JOB = 100_000;
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const runs = Number(values.runs ?? "0");
const jobs = Number(values.jobs);
const counts = [seed, runs, jobs - 1];
if (!(minutes > 0) || !counts.every((count) => Number.isInteger(count) && count >= 0)) {
  process.stderr.write(
    "chaos: --minutes wants a number above 0, --seed, --runs and --jobs a whole number\n",
  );
  process.exit(1);
}
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const options = { minutes, seed, runs: runs || Number.POSITIVE_INFINITY, print };
if (values.cluster) process.exitCode = await onCluster();
else process.exitCode = (await (jobs > 1 ? inJobs() : chaos(options))) ? 0 : 1;

/** 3 where no control plane can be had. */
async function onCluster(): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`chaos: ${line}\n`);
  const assets = clusterAssets(process.env, say);
  if (assets.kind === "failed") {
    say(assets.message);
    return assets.exitCode;
  }
  return (await clusterChaos(assets.folder, options)) ? 0 : 1;
}

async function inJobs(): Promise<boolean> {
  const ends = Array.from({ length: jobs }, async (_, job) => {
    const own = ["--minutes", minutes, "--runs", runs, "--seed", seed + job * SEEDS_A_JOB];
    const args = [fileURLToPath(import.meta.url), ...own.map(String)];
    const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit")) as [
      number | null,
    ];
    return code === 0;
  });
  return (await Promise.all(ends)).every(Boolean);
}
