// Runs node's test runner over our tests. Options go to the runner (npm test -- --test-reporter=tap),
// paths replace the default set (npm test -- packages/kube/workqueue/queue.test.ts).
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 22) {
  process.stderr.write(
    `npm test: needs Node 22.19 or newer, this is ${process.versions.node}; run 'npm ci' first, it brings Node 24 on Linux\n`,
  );
  process.exit(1);
}
const given = process.argv.slice(2);
/** Whether `word` was given; it is none of the runner's. */
function takes(word) {
  const at = given.indexOf(word);
  if (at !== -1) given.splice(at, 1);
  return at !== -1;
}
// --only-names runs the scenarios of both kinds once more, with --only-names among the controllers' flags.
const named = takes("--only-names");
if (named) process.env.SCENES_ONLY_NAMES = "1";
// What `npm run test:more` runs, and not `npm test`: a browser, and what is packed.
const PACKED = [
  "test/browser/*.test.ts",
  "test/bundle.test.ts",
  "test/executable.test.ts",
  "test/image.test.ts",
  "test/installed-package.test.ts",
  "test/kube-package.test.ts",
  "test/package.test.ts",
  "test/release{,-node}.test.ts",
  "test/sandbox-package.test.ts",
];
// And what starts programs for seconds, or plays one thing very often: a third of the time of all tests.
const LONG = [
  "test/campaign/{chaos,migrate-crashes,soak}.test.ts",
  "test/cli/completion/shells.test.ts",
  "test/cli/sandbox.test.ts",
  "test/cluster-{assets,lanes}.test.ts",
  "test/controller/plan/plan-builder.test.ts",
  "test/integration/{cli,operations,use}-page.test.ts",
  "test/integration/migrate-{kyverno,meddling}.test.ts",
  "test/integration/{receipts,recipes,ways-out}.test.ts",
  "test/integration/scenarios-{many,secrecy}.test.ts",
  "{packages,test}/kube/kubeconfig/{exec-plugin,lean,oidc-provider}.test.ts",
  "test/{manifests,migrating-page,readme-transcript,start,tool-words}.test.ts",
  "test/sandbox/kubectl.test.ts",
];
const more = takes("--more");
const options = given.filter((word) => word.startsWith("-"));
const paths = given.filter((word) => !word.startsWith("-"));
const scenarios = () =>
  globSync("test/integration/*.test.ts").filter((file) =>
    readFileSync(file, "utf8").includes("/support/scenes/both-kinds.ts"),
  );
// What counts covered lines takes what is long too. test/cluster needs a real API server.
const counts = options.some((option) => option.includes("coverage"));
const left = ["test/cluster/**", ...PACKED, ...(counts ? [] : LONG)];
const usual = () => globSync("{packages,test}/**/*.test.ts", { exclude: left });
const all = () => (named ? scenarios() : more ? globSync([...PACKED, ...LONG]) : usual());
const files = paths.length > 0 ? paths : all();
// Of what a test could play for hours, a run of everything plays little: test/support/time/extent.ts.
if (paths.length === 0) process.env.SECRETCAST_TEST_BRIEF ??= "1";
// Most tests wait for sockets, not for a core; the runner's default is one file less than cores.
const concurrency = options.some((option) => option.startsWith("--test-concurrency"))
  ? []
  : [`--test-concurrency=${more ? 4 : 6}`];
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
    env: { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node-compile"), ...process.env },
  },
);
process.exit(status ?? 1);
