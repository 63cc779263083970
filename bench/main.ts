// `npm run bench [-- NAME... [PART...]] [-- --quick]`: the benchmarks behind docs/performance.md, one after the
// other. Each prints its figures beside their targets. Counts that are wrong end with exit code 1;
// times too, but not in a quick run, whose times say nothing: several benchmarks run at once in it, each in
// a process of its own. A full run wants a machine with nothing else to do, and Linux.
import { execFile } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { imageFolder } from "./image.ts";
import { BENCHES } from "./list.ts";
import { wordsOf } from "../tools/words.ts";
import { lineOf, missed, scoped, type Bench, type How } from "./scorecard.ts";

const write = (line: string): void => void process.stdout.write(`${line}\n`);

async function runOne(bench: Bench, quick: boolean, words: readonly string[]): Promise<number> {
  write(`\n== ${bench.name}: ${bench.about}`);
  let misses = 0;
  const figure: How["figure"] = (name, value, unit, target = {}) => {
    const whole = { name, value, unit, ...target };
    const judged = target.exact === true || !quick;
    write(`   ${lineOf(whole, judged)}`);
    if (judged && missed(whole)) misses++;
  };
  const how: How = {
    quick,
    parts: bench.parts?.filter((part) => words.includes(part)) ?? [],
    say: (line) => write(`   ${line}`),
    figure,
    count: (name, value, target) => figure(name, value, "", { ...target, exact: true }),
    after: () => {},
  };
  await scoped(how, (own) => bench.run(own));
  return misses;
}

/** Most of a quick run is waiting: one at a time, two cores were idle for 70 % of five minutes. */
const AT_ONCE = 3;

/** The number of those that ended with another exit code than 0. */
async function runBeside(benches: readonly Bench[]): Promise<number> {
  // Once for all of them.
  imageFolder();
  let failed = 0;
  const lane = async (left: Iterable<Bench>): Promise<void> => {
    for (const { name } of left) {
      const { output, isGood } = await runApart(name);
      write(output);
      if (!isGood) failed++;
    }
  };
  const shared = benches.values();
  await Promise.all(Array.from({ length: AT_ONCE }, () => lane(shared)));
  return failed;
}

function runApart(name: string): Promise<{ readonly output: string; readonly isGood: boolean }> {
  const words = [import.meta.filename, name, "--quick"];
  return new Promise((resolve) => {
    execFile(process.execPath, words, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, isGood: error === null }),
    );
  });
}

/** With the parts that can be asked for by themselves. */
const LIST = BENCHES.map(({ name, about, parts = [] }) =>
  [`  ${name.padEnd(10)} ${about}`, ...parts.map((part) => `    ${part}`)].join("\n"),
).join("\n");

async function main(): Promise<number> {
  const { values, positionals: names } = wordsOf(
    import.meta.filename,
    { allowPositionals: true, options: { quick: { type: "boolean", default: false } } },
    `\n${LIST}\n`,
  );
  const { quick } = values;
  const chosen = BENCHES.filter(({ name, alone }) =>
    names.length === 0 ? !(quick && alone) : names.includes(name),
  );
  const known = new Set(chosen.flatMap(({ name, parts = [] }) => [name, ...parts]));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    write(`bench: there is no benchmark "${unknown}", nor a part of one named; there are\n${LIST}`);
    return 1;
  }
  if (quick && names.length === 0) {
    const failed = await runBeside(chosen);
    if (failed > 0) write(`\n${failed} benchmark(s) missed a target`);
    return failed > 0 ? 1 : 0;
  }
  const [cpu] = cpus();
  write(
    `${cpus().length} cores ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}${quick ? ", quick: times are not judged" : ""}`,
  );
  let misses = 0;
  for (const bench of chosen) misses += await runOne(bench, quick, names);
  if (misses > 0) write(`\n${misses} figure(s) missed their target`);
  return misses > 0 ? 1 : 0;
}

process.exitCode = await main().catch((error: unknown) => {
  write(`bench: ${error instanceof Error ? error.stack : String(error)}`);
  return 1;
});
