// Runs node's test runner over our tests. Options go to the runner (npm test -- --test-reporter=tap),
// paths replace the default set (npm test -- test/kube/workqueue/queue.test.ts).
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 22) {
  process.stderr.write(
    `npm test: needs Node 22.19 or newer, this is ${process.versions.node}; run 'npm ci' first, it brings Node 24 on Linux\n`,
  );
  process.exit(1);
}
// --only-names runs the scenarios of both kinds once more, with --only-names among the controllers' flags.
const named = process.argv.includes("--only-names");
if (named) process.env.SCENES_ONLY_NAMES = "1";
const given = process.argv.slice(2).filter((word) => word !== "--only-names");
const options = given.filter((word) => word.startsWith("-"));
const paths = given.filter((word) => !word.startsWith("-"));
// test/cluster needs a real API server; a browser and the package's contents are no matter of every
// run: these have scripts of their own. What waits longest begins first.
const elsewhere = [
  "test/cluster/**",
  "test/browser/**",
  "test/package.test.ts",
  "test/installed-package.test.ts",
  "test/bundle.test.ts",
  "test/kube-package.test.ts",
  "test/release.test.ts",
  "test/image.test.ts",
];
const scenarios = () =>
  globSync("test/integration/*.test.ts").filter((file) =>
    readFileSync(file, "utf8").includes("/support/scenes/both-kinds.ts"),
  );
const all = () => (named ? scenarios() : globSync("test/**/*.test.ts", { exclude: elsewhere }));
const files = paths.length > 0 ? paths : all();
// Most tests wait for sockets, not for a core; the runner's default is one file less than cores.
const concurrency = options.some((option) => option.startsWith("--test-concurrency"))
  ? []
  : ["--test-concurrency=6"];
// TEST_RESULTS names a file for the results, which `npm run ids` reads.
const results = process.env.TEST_RESULTS;
const reporters = results
  ? ["spec", "stdout", "tap", results].map(
      (word, at) => `--test-reporter${at % 2 === 0 ? "" : "-destination"}=${word}`,
    )
  : [];
const { status } = spawnSync(
  process.execPath,
  ["--test", ...concurrency, ...reporters, ...options, ...files],
  {
    stdio: "inherit",
    // A hundred files and their children load the same modules: compiled once, a sixth of the time.
    env: { NODE_COMPILE_CACHE: "node_modules/.cache/node-compile", ...process.env },
  },
);
process.exit(status ?? 1);
