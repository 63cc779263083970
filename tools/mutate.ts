// npm run mutate -- [--mutations 200] [--seed 1] [--results FILE] [--again] [--sockets] [--seconds 90]: changes one place of
// the rules and the writes at a time, in a copy of the tree, and shows it to the tests that run through
// that place, to 25 scripts of chaos, and with --sockets to the tests that need those. FILE (JSON lines) is the
// sample with what became of each; with the same FILE it goes on where it stopped, and with --again
// it asks what survived once more. A mutation gets tests for so many seconds, as they were measured. Exit code 1 when anything survived. Takes one core, at low priority.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { seeded } from "../test/support/time/random.ts";
import { Coverage } from "./mutations/coverage.ts";
import { filesIn, mutated, placesIn, type Place } from "./mutations/places.ts";
import { run, runTests } from "./mutations/test-run.ts";
import { wordsOf } from "./words.ts";

const { values } = wordsOf(import.meta.filename, {
  options: {
    mutations: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    results: { type: "string" },
    again: { type: "boolean", default: false },
    sockets: { type: "boolean", default: false },
    seconds: { type: "string", default: "90" },
  },
});
const seed = Number(values.seed);
const mostMs = Number(values.seconds) * 1000;
const results = values.results ?? `node_modules/.cache/mutate/seed-${seed}.jsonl`;

/** Tests that need nothing but a processor, then those on sockets. */
const NEAR = ["test/text", "test/controller", "test/kube/flowcontrol", "test/migrate"];
const FAR = ["test/cli", "test/page", "test/run", "test/integration"];
const CHAOS = "tools/campaign.ts";
const CHAOS_ARGS = [CHAOS, "--seed", "1", "--runs", "25"];
/** A test under this is asked together with others: what it costs is mostly the process. */
const QUICK_MS = 1_200;
const TOGETHER = 8;

type Line = Place & { readonly outcome?: string; readonly by?: string };

setPriority(10);
const root = process.cwd();
const copy = realpathSync(mkdtempSync(join(tmpdir(), "secretcast-mutants-")));
const coverage = new Coverage(copy, join(root, "node_modules/.cache/mutate/coverage.json"));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function sample(): Line[] {
  const known = existsSync(results)
    ? readFileSync(results, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Line)
    : [];
  const key = ({ file, line, column, is }: Place): string => `${file}:${line}:${column} ${is}`;
  const taken = new Set(known.map(key));
  const chance = seeded(seed);
  const drawn = placesIn(root)
    .map((place) => ({ place, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ place }) => place)
    .filter((place) => !taken.has(key(place)) && mutated(root, place) !== undefined);
  const wanted = Math.max(0, Number(values.mutations) - known.length);
  return [...known, ...drawn.slice(0, wanted)];
}

const inGroups = (tests: readonly string[]): string[][] => {
  const groups: string[][] = [];
  for (const test of tests) {
    const last = groups.at(-1);
    const quick = (name: string): boolean => coverage.timeOf(name) < QUICK_MS;
    if (last && last.length < TOGETHER && quick(test) && last.every(quick)) last.push(test);
    else groups.push([test]);
  }
  return groups;
};

const limitOf = (tests: readonly string[]): number =>
  tests.reduce((sum, test) => sum + 6 * coverage.timeOf(test), 20_000);

/** The test of the file's own name, then the quickest first. */
function testsOf(place: Place, tests: readonly string[]): string[] {
  const own = (test: string): boolean =>
    basename(test).startsWith(`${basename(place.file, ".ts")}.`);
  return tests
    .filter((test) => coverage.runsThrough(test, place))
    .toSorted((a, b) => Number(own(b)) - Number(own(a)) || coverage.timeOf(a) - coverage.timeOf(b));
}

async function caughtBy(place: Place, text: string): Promise<{ outcome: string; by: string }> {
  const path = join(copy, place.file);
  const whole = readFileSync(path, "utf8");
  const sees = async (once: () => ReturnType<typeof run>, sure: boolean) => {
    writeFileSync(path, text);
    const ending = await once();
    writeFileSync(path, whole);
    if (ending.kind === "passed") return undefined;
    // What may be the machine's fault counts when the same passes without the mutation.
    if (ending.failed !== undefined && sure) return ending.failed;
    return (await once()).kind === "passed" ? (ending.failed ?? ending.why) : undefined;
  };
  let [left, unasked] = [mostMs, 0];
  const ask = async (tests: readonly string[]): Promise<string | undefined> => {
    for (const group of inGroups(testsOf(place, tests))) {
      left -= group.reduce((sum, test) => sum + coverage.timeOf(test), 0);
      if (left < 0) unasked += group.length;
      else {
        const by = await sees(() => runTests(copy, group, limitOf(group)), tests === near);
        if (by !== undefined) return by;
      }
    }
    return undefined;
  };
  const byNear = await ask(near);
  if (byNear !== undefined) return { outcome: "tests", by: byNear };
  if (coverage.runsThrough(CHAOS, place)) {
    const by = await sees(() => run(copy, CHAOS_ARGS, limitOf([CHAOS]), {}), false);
    if (by !== undefined) return { outcome: "chaos", by };
  }
  const byFar = await ask(far);
  if (byFar !== undefined) return { outcome: "tests", by: byFar };
  return { outcome: "SURVIVED", by: unasked > 0 ? `${unasked} test files not asked` : "" };
}

async function measured(folders: readonly string[]): Promise<string[]> {
  const tests = folders.flatMap((f) => filesIn(root, f)).filter((t) => t.endsWith(".test.ts"));
  const sound: string[] = [];
  for (const test of tests) {
    if (await coverage.measure(test, ["--test", "--test-isolation=none", test])) sound.push(test);
    else say(`left out, for it fails without a mutation: ${test}`);
  }
  return sound;
}

for (const name of ["src", "test", "tools", "bin", "manifests", "docs", "package.json"])
  cpSync(join(root, name), join(copy, name), { recursive: true });
for (const name of ["README.md", "CHANGELOG.md"]) cpSync(join(root, name), join(copy, name));
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
const clear = (): void => rmSync(copy, { recursive: true, force: true });
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    clear();
    process.exit(1);
  });
const lines = sample();
mkdirSync(dirname(results), { recursive: true });
const keep = (): void =>
  writeFileSync(results, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
keep();
let near: string[] = [];
let far: string[] = [];
try {
  near = await measured(NEAR);
  await coverage.measure(CHAOS, CHAOS_ARGS);
  if (values.sockets) far = await measured(FAR);
  for (const [index, line] of lines.entries()) {
    const { outcome, by: _, ...place } = line;
    if (outcome !== undefined && !(values.again && outcome === "SURVIVED")) continue;
    const text = mutated(copy, place);
    const found = text === undefined ? { outcome: "gone", by: "" } : await caughtBy(place, text);
    lines[index] = { ...place, ...found };
    keep();
    const change = `${place.file}:${place.line} "${place.was.trim()}" to "${place.is.trim()}"`;
    say(`${index + 1}/${lines.length} ${found.outcome} ${change} ${found.by}`);
  }
} finally {
  clear();
}
const count = (outcome: string): number => lines.filter((line) => line.outcome === outcome).length;
say(
  `${count("tests")} caught by tests, ${count("chaos")} by chaos alone, ${count("SURVIVED")} survived, ${count("gone")} gone`,
);
process.exitCode = count("SURVIVED") === 0 ? 0 : 1;
