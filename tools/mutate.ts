// npm run mutate -- [--mutations 200] [--seed 1]: changes one place of src/core or src/writes at a time (a
// condition turned round, an operator, a constant), in a copy of the tree, and runs the tests that
// import the file, the nearest first, and a few scripts of chaos last. Prints what survived; exit code
// 1 when anything did.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { seeded } from "../test/support/time/random.ts";

const { values } = parseArgs({
  options: {
    mutations: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    skip: { type: "string", default: "0" },
  },
});
const count = Number(values.mutations);
const skip = Number(values.skip);
const seed = Number(values.seed);

const ROOMS = ["src/core", "src/writes"];
const TESTS = ["test/core", "test/writes", "test/controller", "test/chaos"];
const TIMEOUT_MS = 120_000;
/** Test files asked together; the next few only if none of these fails. */
const AT_A_TIME = 4;
const CHAOS_SCRIPTS = 25;

type Mutation = {
  readonly file: string;
  readonly line: number;
  readonly at: number;
  readonly was: string;
  readonly is: string;
};

const CHANGES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/ === /g, () => " !== "],
  [/ !== /g, () => " === "],
  [/ && /g, () => " || "],
  [/ \|\| /g, () => " && "],
  [/ < /g, () => " <= "],
  [/ > /g, () => " >= "],
  [/ <= /g, () => " < "],
  [/ >= /g, () => " > "],
  [/ \+ /g, () => " - "],
  [/\bif \(!/g, () => "if ("],
  [/\bif \((?!!)/g, () => "if (!"],
  [/\breturn true\b/g, () => "return false"],
  [/\breturn false\b/g, () => "return true"],
  [/ \? /g, () => " && false ? "],
  [/(?<=[ (])\d[\d_]*(?=[;,) ])/g, (found) => String(Number(found.replaceAll("_", "")) + 1)],
];

const root = process.cwd();
const files = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`);

/** Every place that could be changed, but for comments, imports and types. */
function mutationsOf(file: string): Mutation[] {
  const text = readFileSync(join(root, file), "utf8");
  let start = 0;
  return text.split("\n").flatMap((line, index) => {
    const begin = start;
    start += line.length + 1;
    if (
      /^\s*(\/\/|\/?\*|import |export type|type |\| |readonly |\})/.test(line) ||
      /^\s*[`"']/.test(line)
    )
      return [];
    return CHANGES.flatMap(([pattern, change]) =>
      Array.from(line.matchAll(pattern)).map((match) => {
        const [was] = match;
        return { file, line: index + 1, at: begin + match.index, was, is: change(was) };
      }),
    );
  });
}

const importsOf = new Map<string, readonly string[]>();
function imports(file: string): readonly string[] {
  const known = importsOf.get(file);
  if (known) return known;
  const text = readFileSync(join(root, file), "utf8");
  const found = Array.from(text.matchAll(/from "(\.[^"]+\.ts)"/g), ([, path = ""]) =>
    relative(root, join(root, dirname(file), path)),
  );
  importsOf.set(file, found);
  return found;
}

/** How many imports lie between a test and each file. */
function distances(test: string): ReadonlyMap<string, number> {
  const found = new Map([[test, 0]]);
  for (const [file, distance] of found)
    for (const next of imports(file)) if (!found.has(next)) found.set(next, distance + 1);
  return found;
}

const reach = TESTS.flatMap(files)
  .filter((name) => name.endsWith(".test.ts") && !name.startsWith("test/chaos/"))
  .map((test) => ({ test, distances: distances(test) }));

function testsOf(file: string): readonly string[] {
  const near = reach.flatMap(({ test, distances }) => {
    const distance = distances.get(file);
    return distance === undefined ? [] : [{ test, distance }];
  });
  return near.toSorted((a, b) => a.distance - b.distance).map(({ test }) => test);
}

function caughtBy(copy: string, file: string): string | undefined {
  const run = (...args: readonly string[]): boolean =>
    spawnSync(process.execPath, args, { cwd: copy, timeout: TIMEOUT_MS, stdio: "ignore" })
      .status !== 0;
  const tests = testsOf(file);
  for (let from = 0; from < tests.length; from += AT_A_TIME) {
    const some = tests.slice(from, from + AT_A_TIME);
    if (run("--test", ...some)) return some.join(" ");
  }
  if (run("tools/chaos.ts", "--seed", "1", "--runs", String(CHAOS_SCRIPTS))) return "chaos";
  return undefined;
}

const all = ROOMS.flatMap(files).flatMap(mutationsOf);
const chance = seeded(seed);
const order = all.map((mutation) => ({ mutation, at: chance() })).toSorted((a, b) => a.at - b.at);
const chosen = order.slice(skip, skip + count).map(({ mutation }) => mutation);
const copy = mkdtempSync(join(tmpdir(), "secretcast-mutants-"));
for (const name of [
  "src",
  "test",
  "tools",
  "bin",
  "manifests",
  "docs",
  "package.json",
  "README.md",
])
  cpSync(join(root, name), join(copy, name), { recursive: true });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
process.stdout.write(`${chosen.length} of ${all.length} places, --seed ${seed}\n`);
let survivors = 0;
try {
  for (const [index, { file, line, at, was, is }] of chosen.entries()) {
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(join(copy, file), text.slice(0, at) + is + text.slice(at + was.length));
    const catcher = caughtBy(copy, file);
    writeFileSync(join(copy, file), text);
    if (catcher === undefined) survivors++;
    const change = `${file}:${line} "${was.trim()}" to "${is.trim()}"`;
    process.stdout.write(
      `${skip + index + 1} ${catcher === undefined ? "SURVIVED" : "caught"} ${change}\n`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${chosen.length - survivors} caught, ${survivors} survived\n`);
process.exitCode = survivors === 0 ? 0 : 1;
