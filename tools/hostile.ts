// `npm run hostile -- [--minutes 10] [--seed N] [--steps N] [--only TEXT]`: the controller on a real
// control plane, started here, against a hostile tenant and faults. The seed is printed; the same seed
// gives the same settings, attacks and faults. `--only` takes the attacks and faults whose names hold one
// of the texts in it. Exit codes: 1 and what was violated, when something was; 3 where no control plane can be had.
import { hostile } from "../test/campaign/hostile.ts";
import { withClusterAssets } from "./cluster-assets.ts";
import { wordsOf } from "./words.ts";

const say = (line: string): void => void process.stderr.write(`hostile: ${line}\n`);

async function main(): Promise<number> {
  const { values } = wordsOf(import.meta.filename, {
    options: {
      minutes: { type: "string", default: "10" },
      seed: { type: "string" },
      steps: { type: "string", default: "Infinity" },
      only: { type: "string", default: "" },
    },
  });
  const minutes = Number(values.minutes);
  const steps = Number(values.steps);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  if (!(minutes > 0) || !(steps > 0) || !Number.isInteger(seed) || seed < 0) {
    say("--minutes and --steps want a number above 0, --seed a whole number");
    return 1;
  }
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  return withClusterAssets(say, async (assets) => {
    const violated = await hostile({ minutes, steps, seed, only: values.only, print, assets });
    if (violated.length === 0) {
      print("nothing was violated");
      return 0;
    }
    for (const line of violated) say(`violated: ${line}`);
    const only = values.only === "" ? "" : ` --only '${values.only}'`;
    say(`again: npm run hostile -- --minutes ${minutes} --seed ${seed}${only}`);
    return 1;
  });
}

process.exitCode = await main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
});
