// npm run soak -- [--minutes 10] [--rate 5] [--seed N] [--folder F]: the program as a process against random
// faults and so many changes a second, on an API server in memory; exit code 1 and what was wrong, when
// something was.
// npm run soak -- --hours 2 [--rate 5] [--seed N] [--folder F]: the same on a real API server, and whether its
// memory, handles and latencies stay; draws them into docs/images.
// npm run soak -- --records FILE: judges and draws such a run again, or one that was cut short.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawSoak } from "../test/campaign/judges/charts.ts";
import { readRecords } from "../test/campaign/judges/records.ts";
import { soak } from "../test/campaign/soak.ts";
import { judgeSoak } from "../test/campaign/judges/verdict.ts";
import { withClusterAssets } from "./cluster-assets.ts";
import { wordsOf } from "./words.ts";

const IMAGES = join(import.meta.dirname, "../docs/images");
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const { values } = wordsOf(import.meta.filename, {
    options: {
      minutes: { type: "string", default: "10" },
      hours: { type: "string" },
      rate: { type: "string", default: "5" },
      seed: { type: "string" },
      folder: { type: "string" },
      records: { type: "string" },
    },
  });
  if (values.records !== undefined) return conclude(values.records, "drawn");
  const minutes = Number(values.minutes);
  const hours = Number(values.hours ?? "1");
  const rate = Number(values.rate);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  if (!(minutes > 0) || !(hours > 0) || !(rate > 0) || !Number.isInteger(seed)) {
    complain("soak: --minutes, --hours and --rate want a number above 0, --seed a whole number");
    return 1;
  }
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), "secretcast-soak-"));
  const asked = { rate, seed, folder, print };
  if (values.hours === undefined)
    return conclude(await soak({ ...asked, hours: minutes / 60, assets: undefined }), seed);
  return withClusterAssets(
    (line) => complain(`soak: ${line}`),
    async (assets) => conclude(await soak({ ...asked, hours, assets }), "drawn"),
  );
}

/** `seed`: of a run in memory, of which no pictures are kept. */
function conclude(file: string, seed: number | "drawn"): number {
  const records = readRecords(file);
  const { lines, problems } = judgeSoak(records);
  for (const line of lines) print(line);
  if (seed === "drawn") for (const image of drawSoak(records, IMAGES)) print(`drawn: ${image}`);
  else if (problems.length > 0) complain(`--seed ${seed}`);
  for (const problem of problems) complain(`wrong: ${problem}`);
  if (problems.length === 0) print("nothing was wrong");
  return problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
