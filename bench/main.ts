// `npm run bench [-- NAME...] [-- --quick]`: the benchmarks behind docs/performance.md, one after the
// other. Each prints its figures beside their targets. Counts that are wrong end with exit code 1;
// times too, but not in a quick run, whose times say nothing. It wants a machine with nothing else to
// do, and Linux.
import { cpus, totalmem } from "node:os";
import { BENCHES } from "./list.ts";
import { lineOf, missed, scoped, type Bench, type How } from "./scorecard.ts";

const write = (line: string): void => void process.stdout.write(`${line}\n`);

async function runOne(bench: Bench, quick: boolean): Promise<number> {
  write(`\n== ${bench.name}: ${bench.about}`);
  let misses = 0;
  const how: How = {
    quick,
    say: (line) => write(`   ${line}`),
    figure: (figure) => {
      const judged = figure.exact === true || !quick;
      write(`   ${lineOf(figure, judged)}`);
      if (judged && missed(figure)) misses++;
    },
    after: () => {},
  };
  await scoped(how, (own) => bench.run(own));
  return misses;
}

async function main(words: readonly string[]): Promise<number> {
  const quick = words.includes("--quick");
  const names = words.filter((word) => !word.startsWith("-"));
  const unknown = names.find((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown !== undefined) {
    const known = BENCHES.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n");
    write(`bench: there is no benchmark "${unknown}"; there are\n${known}`);
    return 1;
  }
  const [cpu] = cpus();
  write(
    `${cpus().length} cores ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}${quick ? ", quick: times are not judged" : ""}`,
  );
  let misses = 0;
  for (const bench of BENCHES)
    if (names.length === 0 || names.includes(bench.name)) misses += await runOne(bench, quick);
  if (misses > 0) write(`\n${misses} figure(s) missed their target`);
  return misses > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  write(`bench: ${error instanceof Error ? error.stack : String(error)}`);
  return 1;
});
