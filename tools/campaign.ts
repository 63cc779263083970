// npm run campaign -- [--actors script|users|tenant] [--server memory|sandbox|real] [--minutes N | --hours N]
// [--seed N]: the controller against everything that its users and its cluster may do, and judges of it. The
// seed is printed. Exit code 1 and what was wrong, when something was; 3 where no control plane can be had.
//
// --actors script, as `npm run chaos`: random scripts of users, tenants, faults and restarts. In memory on a
// fake clock, or by --server real (--cluster) on a control plane that is started here, in real time. Of a
// script that fails, one that was made short is printed. --runs N: so many scripts. --failed: first every
// seed that ever failed. --draw N: what a seed means; an older one for a seed that failed by that.
//
// --actors users, as `npm run soak`: the program as a process, so many changes a second (--rate 5) and random
// faults. By --server sandbox on an API server in memory, for --minutes; by --server real, for --hours, also
// whether memory, handles and latencies stay, drawn into docs/images. --folder F: where its records are
// kept. --records FILE: judges and draws such a run again, or one that was cut short.
//
// --actors tenant, as `npm run hostile`: the program as a process on a real API server, among honest users, a
// tenant that attacks, and faults. --steps N: at most so many steps. --only TEXT,TEXT: the attacks and faults
// whose names hold one of these. The same seed gives the same settings, attacks and faults.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chaos, replay } from "../test/campaign/chaos.ts";
import { hostile } from "../test/campaign/hostile.ts";
import { drawSoak } from "../test/campaign/judges/charts.ts";
import { readRecords } from "../test/campaign/judges/records.ts";
import { judgeSoak } from "../test/campaign/judges/verdict.ts";
import { NEWEST_DRAW } from "../test/campaign/scripts/draw.ts";
import { FAILED_SEEDS } from "../test/campaign/scripts/failed-seeds.ts";
import { soak } from "../test/campaign/soak.ts";
import { withClusterStage } from "../test/campaign/stages/cluster-stage.ts";
import { withClusterAssets } from "./cluster-assets.ts";
import { refuse, wordsOf } from "./words.ts";

const { values } = wordsOf(import.meta.filename, {
  options: {
    actors: { type: "string", default: "script" },
    server: { type: "string" },
    cluster: { type: "boolean", default: false },
    minutes: { type: "string" },
    hours: { type: "string" },
    seed: { type: "string" },
    draw: { type: "string", default: String(NEWEST_DRAW) },
    runs: { type: "string", default: "Infinity" },
    failed: { type: "boolean", default: false },
    rate: { type: "string", default: "5" },
    folder: { type: "string" },
    records: { type: "string" },
    steps: { type: "string", default: "Infinity" },
    only: { type: "string", default: "" },
  },
});

/** On which servers there are these actors; the first unless another one is named. */
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  script: ["memory", "real"],
  users: ["sandbox", "real"],
  tenant: ["real"],
};
const IMAGES = join(import.meta.dirname, "../docs/images");
const MOST_SEED = 1e9;

// Faults make errors by the thousand, and nobody reads where each was made.
if (values.actors === "script") Error.stackTraceLimit = 1;
const seed = whole("seed", values.seed ?? String(Math.floor(Math.random() * MOST_SEED)), 0);
const server = chosenServer();
const minutes =
  values.hours === undefined
    ? above0("minutes", values.minutes ?? (values.actors === "script" ? "1" : "10"))
    : 60 * above0("hours", values.hours);
process.exitCode = await main();

async function main(): Promise<number> {
  if (values.records !== undefined) return conclude(values.records, true);
  if (server === "memory") return (await scriptsInMemory()) ? 0 : 1;
  if (server === "sandbox") return users(undefined);
  const onReal = { script: scriptsOn, users, tenant }[values.actors];
  return onReal ? withClusterAssets(complain, onReal) : 1;
}

function scripts() {
  const draw = whole("draw", values.draw, 1);
  if (draw > NEWEST_DRAW) refuse(import.meta.filename, `--draw wants at most ${NEWEST_DRAW}`);
  const runs = values.runs === "Infinity" ? Infinity : whole("runs", values.runs, 1);
  return { minutes, seed, draw, runs, print };
}

async function scriptsInMemory(): Promise<boolean> {
  const options = scripts();
  // The older ones first: whoever broke what was right once need not wait.
  return (!values.failed || (await replay(FAILED_SEEDS, print))) && chaos(options);
}

async function scriptsOn(assets: string): Promise<number> {
  const options = scripts();
  return withClusterStage(assets, async (stage) => ((await chaos(options, stage)) ? 0 : 1));
}

async function users(assets: string | undefined): Promise<number> {
  const rate = above0("rate", values.rate);
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), "secretcast-soak-"));
  const records = await soak({ hours: minutes / 60, rate, seed, folder, assets, print });
  return conclude(records, assets !== undefined);
}

function conclude(file: string, drawn: boolean): number {
  const records = readRecords(file);
  const { lines, problems } = judgeSoak(records);
  for (const line of lines) print(line);
  if (drawn) for (const image of drawSoak(records, IMAGES)) print(`drawn: ${image}`);
  return told(problems);
}

async function tenant(assets: string): Promise<number> {
  const { only } = values;
  const steps = above0("steps", values.steps);
  return told(await hostile({ minutes, steps, seed, only, print, assets }));
}

/** Says what was wrong; the exit code. */
function told(problems: readonly string[]): number {
  for (const problem of problems) complain(`wrong: ${problem}`);
  const given = process.argv.slice(2);
  const again = values.seed === undefined ? [...given, "--seed", seed] : given;
  if (problems.length > 0) complain(`again: npm run campaign -- ${again.join(" ")}`);
  else print("nothing was wrong");
  return problems.length > 0 ? 1 : 0;
}

function chosenServer(): string {
  const [first, ...others] = SERVERS[values.actors] ?? [];
  const isLong = values.actors === "users" && values.hours !== undefined;
  const chosen = values.server ?? (values.cluster || isLong ? "real" : first);
  if (first === undefined)
    refuse(import.meta.filename, `--actors wants ${Object.keys(SERVERS).join(", ")}`);
  if (chosen === undefined || ![first, ...others].includes(chosen))
    refuse(
      import.meta.filename,
      `--actors ${values.actors} wants --server ${[first, ...others].join(" or ")}`,
    );
  return chosen;
}

function whole(flag: string, text: string, least: number): number {
  const number = Number(text);
  if (text !== "" && Number.isInteger(number) && number >= least) return number;
  return refuse(import.meta.filename, `--${flag} wants a whole number from ${least} on`);
}

function above0(flag: string, text: string): number {
  const number = Number(text);
  return number > 0 ? number : refuse(import.meta.filename, `--${flag} wants a number above 0`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`campaign: ${line}\n`);
}
