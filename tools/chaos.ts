// npm run chaos -- [--minutes 1] [--seed N] [--runs N]: random scripts of users, tenants, faults and
// restarts against the controller, on an API server in memory and a fake clock; exit code 1 and a
// shrunk script when something was wrong.
import { parseArgs } from "node:util";
import { chaos } from "../test/chaos/chaos.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    runs: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const runs = Number(values.runs ?? "0");
if (!(minutes > 0) || !Number.isInteger(seed) || !Number.isInteger(runs) || runs < 0) {
  process.stderr.write(
    "chaos: --minutes wants a number above 0, --seed and --runs a whole number\n",
  );
  process.exit(1);
}
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sound = await chaos({ minutes, seed, runs: runs || Number.POSITIVE_INFINITY, print });
process.exitCode = sound ? 0 : 1;
