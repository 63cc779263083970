// `npm run test:cluster`: the tests under test/cluster and test/integration, on one real
// control plane that is started here and shared by the test files, one file after the other (a file
// that kills its API server starts one of its own). Helm and promtool are built where there is Go;
// without them their tests say so and are skipped. Options go to the test runner, paths replace the
// default set, as with `npm test`.
// Exit codes: the runner's; 1 when the control plane does not start; 3 when it cannot be had here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { startControlPlane } from "../test/support/api-server/control-plane.ts";
import { controllerAccount } from "../test/support/api-server/account.ts";
import type { SharedCluster } from "../test/support/api-server/cluster.ts";
import { clusterAssets } from "./cluster-assets.ts";
import { goToolFolders } from "./go-tools.ts";

const say = (line: string): void => void process.stderr.write(`test:cluster: ${line}\n`);

async function main(given: readonly string[]): Promise<number> {
  const assets = clusterAssets(process.env, say);
  if (assets.kind === "failed") {
    say(assets.message);
    return assets.exitCode;
  }
  const began = performance.now();
  const controlPlane = await startControlPlane(assets.folder);
  try {
    say(`control plane of ${assets.folder} ready after ${seconds(began)} s`);
    const { restartApiServer: _, backUp: __, restore: ___, stop: ____, ...access } = controlPlane;
    // What runs in the tests as the controller has the rights that the manifests give it.
    const controllerKubeconfig = await controllerAccount(access);
    return await runTests(given, assets.folder, { ...access, controllerKubeconfig });
  } finally {
    await controlPlane.stop();
    say(`${seconds(began)} s in all`);
  }
}

async function runTests(
  given: readonly string[],
  folder: string,
  access: SharedCluster,
): Promise<number> {
  const options = given.filter((word) => word.startsWith("-"));
  const paths = given.filter((word) => !word.startsWith("-"));
  const files =
    paths.length > 0
      ? paths
      : globSync(["test/integration/**/*.test.ts", "test/cluster/**/*.test.ts"]).toSorted(inOrder);
  const runner = spawn(process.execPath, ["--test", "--test-concurrency=1", ...options, ...files], {
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: [folder, ...goToolFolders(process.env, say), process.env["PATH"]].join(":"),
      CLUSTER_ASSETS: folder,
      CLUSTER_ACCESS: JSON.stringify(access),
    },
  });
  // The runner hears a terminal's Ctrl-C itself; we wait for it and then stop the control plane.
  const pass = (signal: NodeJS.Signals): void => void runner.kill(signal);
  process.on("SIGINT", pass).on("SIGTERM", pass);
  const [code] = await once(runner, "exit");
  return typeof code === "number" ? code : 1;
}

// Which rights were used is asked when all the others have run.
const LAST = "test/cluster/rights.test.ts";

function inOrder(a: string, b: string): number {
  return Number(a === LAST) - Number(b === LAST) || a.localeCompare(b);
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  return 1;
});
