// docs/cli.md: each command is typed as it stands on the page, in order, and prints what stands there; on
// the sandbox, and on a real API server of the file's own. `UPDATE_CLI=1 npm test -- test/integration/cli-page.test.ts`
// writes the page anew.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startSandbox } from "../../packages/sandbox/server.ts";
import { ownCluster } from "../support/api-server/cluster.ts";
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { onAnyMachine } from "../support/programs/command-line.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";

const PAGE = new URL("../../docs/cli.md", import.meta.url);
const PROGRAM = fileURLToPath(new URL("../../bin/secretcast.js", import.meta.url));
const isReal = process.env["CLUSTER_ACCESS"] !== undefined;

/** Path of a kubeconfig of a server that nobody else is on. */
async function kubeconfigOf(t: TestContext, folder: string): Promise<string> {
  if (isReal) {
    const cluster = await ownCluster();
    t.after(() => cluster.stop());
    return cluster.kubeconfig;
  }
  const sandbox = await startSandbox();
  t.after(() => sandbox.stop());
  const file = join(folder, "kubeconfig");
  writeFileSync(file, sandbox.kubeconfig());
  return file;
}

/** What a terminal shows of a line: stdout and stderr as they come. */
function typed(line: string, folder: string, kubeconfig: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const own = { PATH: `${folder}/bin:${PATH}`, HOME: folder, KUBECONFIG: kubeconfig };
    const env = { NODE_COMPILE_CACHE, ...own };
    const shell = spawn("bash", ["-c", `exec 2>&1; ${line}`], { cwd: folder, env });
    let shown = "";
    shell.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
    shell.on("error", reject);
    shell.on("close", () => resolve(shown));
  });
}

const BLOCK = /^```console\n(.*?)^```$/gms;
const FILE = /^```yaml\n# (\S+)\n(.*?)^```$/gms;

/** The page with what its commands print; `show` is asked for each, in order. */
async function filled(page: string, show: (line: string) => Promise<string>): Promise<string> {
  let text = "";
  let end = 0;
  for (const block of page.matchAll(BLOCK)) {
    const lines = (block[1] ?? "").split("\n").filter((line) => line.startsWith("$ "));
    text += `${page.slice(end, block.index)}\`\`\`console\n`;
    for (const line of lines) text += `${line}\n${await show(line.slice(2))}`;
    text += "```";
    end = block.index + block[0].length;
  }
  return text + page.slice(end);
}

// Of a check what differs from one server to another: its answers. The states and what is checked stay.
function steady(page: string): string {
  if (!isReal) return page;
  return page.replaceAll(/^(ok|STATE) +(.*?) {3,}.*$/gm, "$1 $2");
}

test("the page of the command line is what each command prints", async (t) => {
  const missing = kubectlMissing();
  if (missing !== undefined) return t.skip(missing);
  const folder = folderOf(t);
  const kubeconfig = await kubeconfigOf(t, folder);
  const page = readFileSync(PAGE, "utf8");
  for (const [, name = "", text = ""] of page.matchAll(FILE))
    writeFileSync(join(folder, name), text);
  await typed("mkdir bin", folder, kubeconfig);
  const program = join(folder, "bin/secretcast");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  chmodSync(program, 0o755);
  const printed = await filled(page, async (line) => {
    // The page shows a cluster with a controller, which the run of one line waits for.
    const isRead = /^secretcast (?!run)/.test(line);
    const remove = isRead ? await placeLiveLease({ kubeconfig }) : undefined;
    const shown = await typed(line, folder, kubeconfig);
    await remove?.();
    return onAnyMachine(shown);
  });
  if (process.env["UPDATE_CLI"] && !isReal) writeFileSync(PAGE, printed);
  assert.equal(steady(printed), steady(readFileSync(PAGE, "utf8")));
});
