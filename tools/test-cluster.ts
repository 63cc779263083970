// `npm run test:cluster`: the tests under test/cluster and test/integration on real control planes that
// are started here. As many files run at once as there are control planes, two unless
// --test-concurrency says otherwise, and each has one for itself while it runs (a file that kills its
// API server starts one of its own). Helm and promtool are built where there is Go; without them their
// tests say so and are skipped. Paths replace the default set, as with `npm test`.
// Exit codes: 0 when all passed, else 1; 1 when a control plane does not start; 3 when none can be had.
import { globSync } from "node:fs";
import { relative, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec, tap } from "node:test/reporters";
import { controllerAccount } from "../test/support/api-server/account.ts";
import type { SharedCluster } from "../test/support/api-server/cluster.ts";
import { startControlPlane, type ControlPlane } from "../test/support/api-server/control-plane.ts";
import { Lanes, type FileRole } from "../test/support/api-server/lanes.ts";
import { isInBothModes } from "../test/support/scenes/named-mode.ts";
import { clusterAssets } from "./cluster-assets.ts";
import { goToolFolders } from "./go-tools.ts";
import { wordsOf } from "./words.ts";

/** What waits or works longest begins first, so that no file is left running by itself at the end. */
const LONGEST: readonly string[] = [
  "test/integration/scenarios-many.test.ts",
  "test/integration/scenarios-operations.test.ts",
  "test/cluster/storms.test.ts",
  "test/integration/scenarios-source-list.test.ts",
  "test/integration/scenarios-secrecy.test.ts",
  "test/integration/scenarios-namespaces.test.ts",
  "test/integration/recipes.test.ts",
  "test/cluster/chart-values.test.ts",
  "test/cluster/uninstall.test.ts",
];

/** These wait for clocks on control planes of their own, so that they run beside the lanes, in turn. */
const BESIDE: readonly string[] = [
  "test/cluster/two-leaders.test.ts",
  "test/cluster/conformance.test.ts",
  "test/cluster/restarts.test.ts",
  "test/cluster/listed-namespaces.test.ts",
  "test/cluster/long-soak.test.ts",
  "test/cluster/migrate-owners.test.ts",
];

/** Each of these has the machine for itself, at the end. Which rights were used is asked last of all. */
const ALONE: readonly string[] = ["test/cluster/rights.test.ts"];

const DEFAULT_LANES = 2;
const LANE = new URL("../test/support/api-server/lane.ts", import.meta.url).href;

const say = (line: string): void => void process.stderr.write(`test:cluster: ${line}\n`);

type Options = {
  readonly files: readonly string[];
  readonly concurrency: number;
  readonly patterns: readonly string[];
  readonly reporter: string;
  /** Scenarios of files that run under --only-names as well, with rights by name. */
  readonly named: readonly string[];
};

function readOptions(): Options {
  const { values, positionals } = wordsOf(import.meta.filename, {
    allowPositionals: true,
    options: {
      "test-concurrency": { type: "string", default: String(DEFAULT_LANES) },
      "test-name-pattern": { type: "string", multiple: true, default: [] },
      "test-reporter": { type: "string", default: "spec" },
      "only-names": { type: "boolean", default: false },
    },
  });
  const concurrency = Number(values["test-concurrency"]);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new Error(`--test-concurrency "${values["test-concurrency"]}" is no count of 1 or more`);
  const reporter = values["test-reporter"];
  if (reporter !== "spec" && reporter !== "tap")
    throw new Error(`--test-reporter "${reporter}" is neither spec nor tap`);
  const asked =
    positionals.length > 0
      ? positionals
      : ["test/integration/**/*.test.ts", "test/cluster/**/*.test.ts"];
  const found = globSync(asked).toSorted(inOrder);
  if (found.length === 0) throw new Error(`no test file is called ${asked.join(" or ")}`);
  const named = found.filter((file) => file.includes("integration/") && isInBothModes(file));
  const files = values["only-names"] ? [] : found;
  const patterns = values["test-name-pattern"];
  return { files, concurrency, patterns, reporter, named };
}

async function main(): Promise<number> {
  const options = readOptions();
  const assets = clusterAssets(process.env, say);
  if (assets.kind === "failed") {
    say(assets.message);
    return assets.exitCode;
  }
  const { folder } = assets;
  const began = performance.now();
  const most = Math.max(options.files.length, options.named.length);
  const lanes = Math.min(options.concurrency, most);
  const planes = await startAll(folder, lanes);
  try {
    say(`${lanes} control plane(s) of ${folder} ready after ${seconds(began)} s`);
    const accesses = await Promise.all(planes.map(accessOf));
    const { files, named } = options;
    const code = files.length > 0 ? await runTests(options, folder, accesses) : 0;
    if (code !== 0 || named.length === 0) return code;
    const wideEnd = performance.now();
    process.env["SCENES_ONLY_NAMES"] = "1";
    const namedCode = await runTests({ ...options, files: named }, folder, accesses);
    say(`the scenarios under --only-names took ${seconds(wideEnd)} s`);
    return namedCode;
  } finally {
    await Promise.all(planes.map((plane) => plane.stop()));
    say(`${seconds(began)} s in all`);
  }
}

/** All of them, or none is left running. */
async function startAll(folder: string, count: number): Promise<readonly ControlPlane[]> {
  const starts = await Promise.allSettled(
    Array.from({ length: count }, () => startControlPlane(folder)),
  );
  const planes = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed === undefined) return planes;
  await Promise.all(planes.map((plane) => plane.stop()));
  throw failed.reason;
}

async function accessOf(plane: ControlPlane): Promise<SharedCluster> {
  const { restartApiServer: _, backUp: __, restore: ___, stop: ____, ...access } = plane;
  // What runs in the tests as the controller has the rights that the manifests give it.
  return { ...access, controllerKubeconfig: await controllerAccount(access) };
}

async function runTests(
  { files, patterns, reporter }: Options,
  folder: string,
  accesses: readonly SharedCluster[],
): Promise<number> {
  const lanes = new Lanes(accesses, roleOf);
  await lanes.listen();
  Object.assign(process.env, {
    // As tools/run-tests.js has it: the files load the same modules.
    NODE_COMPILE_CACHE:
      process.env["NODE_COMPILE_CACHE"] ?? resolve("node_modules/.cache/node-compile"),
    PATH: [folder, ...goToolFolders(process.env, say), process.env["PATH"]].join(":"),
    CLUSTER_ASSETS: folder,
    CLUSTER_LANES: lanes.socketFile,
    CLUSTER_AUDIT_LOGS: JSON.stringify(accesses.map(({ auditLog }) => auditLog)),
  });
  // A terminal's Ctrl-C reaches the tests by itself; we wait for them and then stop everything.
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  process.on("SIGINT", abort).on("SIGTERM", abort);
  try {
    const tests = run({
      files: [...files],
      // Those beside begin at once and wait for their turn.
      concurrency: accesses.length + files.filter((file) => roleOf(file) === "beside").length,
      execArgv: ["--import", LANE],
      testNamePatterns: [...patterns],
      signal: stop.signal,
    });
    let isGood = false;
    // The summaries of single files name them; the last is that of all.
    tests.on("test:summary", ({ file, success }) => {
      if (file === undefined) isGood = success;
    });
    const shown = reporter === "spec" ? tests.compose(new spec()) : tests.compose(tap);
    shown.pipe(process.stdout);
    await finished(shown);
    return isGood && !stop.signal.aborted ? 0 : 1;
  } finally {
    await lanes.close();
    sayLongest(lanes);
  }
}

function sayLongest({ runs }: Lanes<unknown>): void {
  if (runs.length === 0) return;
  const longest = runs.toSorted((a, b) => b.seconds - a.seconds).slice(0, 12);
  const words = longest.map(
    ({ file, seconds }) => `${relative(process.cwd(), file)} ${seconds.toFixed(0)} s`,
  );
  say(`${runs.length} files; the longest: ${words.join(", ")}`);
}

function roleOf(path: string): FileRole {
  const file = relative(process.cwd(), path);
  if (ALONE.includes(file)) return "alone";
  return BESIDE.includes(file) ? "beside" : "shared";
}

const ORDER = [...BESIDE, ...LONGEST, "*", ...ALONE];

function inOrder(a: string, b: string): number {
  const rank = (file: string): number => ORDER.indexOf(ORDER.includes(file) ? file : "*");
  return rank(a) - rank(b) || a.localeCompare(b);
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

process.exitCode = await main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  return 1;
});
