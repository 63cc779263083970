// npm run soak -- [--minutes 10] [--seed N]: the controller against random faults; exit code 1 and
// what was wrong, when something was.
import { parseArgs } from "node:util";
import { soak } from "../test/soak/soak.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write("soak: --minutes wants a number above 0, --seed a whole number\n");
  process.exit(1);
}
const problems = await soak({
  minutes,
  seed,
  print: (line) => process.stdout.write(`${line}\n`),
});
for (const problem of problems) process.stderr.write(`wrong: ${problem}\n`);
process.stdout.write(problems.length === 0 ? "nothing was wrong\n" : `--seed ${seed}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
