// What a tool does with words that it does not know, or that ask for help: nothing but say so. One that
// began its work all the same would build, benchmark or start a control plane for minutes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(`${ROOT}package.json`, "utf8"),
);
// bundle runs where the image is built too, on files that are copied one by one: its words are two folders.
const TOOLS = Object.entries(scripts).flatMap(([name, script]) => {
  const [, file] =
    /^node ((?:tools|bench|test\/verify)\/\S+\.ts)(?: --\w+ \w+)?$/.exec(script) ?? [];
  return file === undefined || name === "bundle" ? [] : ([[name, file]] as const);
});

async function start(file: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [file, ...words], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}

test("there are tools", () => assert.ok(TOOLS.length >= 14, String(TOOLS)));

// Beside each other: the last file to begin would else be the last to end.
describe("each tool", { concurrency: 3 }, () => {
  for (const [name, file] of TOOLS) {
    test(`npm run ${name} -- --help says how it is used, and does nothing`, async () => {
      const { stdout, stderr, code } = await start(file, "--help");
      assert.equal(stderr, "");
      assert.match(stdout, new RegExp(`npm run ${name}\\b`));
      assert.doesNotMatch(stdout, /^\/\//m);
      assert.equal(code, 0);
    });

    test(`npm run ${name} names an unknown flag and does nothing`, async () => {
      const { stdout, stderr, code } = await start(file, "--no-such-flag");
      assert.match(stderr, new RegExp(`^\\S+: .*--no-such-flag.*\n$`));
      assert.equal(stdout, "");
      assert.equal(code, 1);
    });
  }
});

for (const flags of [
  ["--domain", "nowhere"],
  ["--fault", "none"],
  ["--seconds", "soon"],
] as const)
  test(`npm run verify -- ${flags.join(" ")} is refused and visits nothing`, async () => {
    const { stdout, stderr, code } = await start("test/verify/main.ts", ...flags);
    assert.match(stderr, new RegExp(`^verify: .*"${flags[1]}".*\n$`));
    assert.deepEqual([stdout, code], ["", 1]);
  });

test("npm run bench -- --help lists every benchmark with its parts", async () => {
  const { stdout } = await start("bench/main.ts", "--help");
  assert.match(stdout, /^ {2}fanout +\S.*$/m);
  assert.match(stdout, /^ {2}lean +\S.*$/m);
});
