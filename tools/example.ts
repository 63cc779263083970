// `npm run example -- NAME [ARGUMENTS]`: one of examples/ on the cluster that KUBECONFIG names, or,
// without KUBECONFIG, on a sandbox that is started for it; the sandbox gets what the example needs, the
// notifier a receiver that prints. Ends with the example, or with Ctrl-C.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { isObject } from "../packages/sandbox/storage/object.ts";
import { startSandbox } from "../packages/sandbox/server.ts";
import { asksForHelp, helpOf, refuse } from "./words.ts";

const EXAMPLES = join(import.meta.dirname, "../examples");
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What to do in another terminal, where the sandbox is empty. */
const TRY: Readonly<Record<string, string>> = {
  "pod-logger": "apply -f examples/try/pod.yaml",
  notifier: "apply -f examples/try/pod.yaml",
  "service-per-deployment": "apply -f examples/try/deployment.yaml",
  icecream: "apply -f examples/try/icecream.yaml",
};

async function main([name = "", ...words]: readonly string[]): Promise<number> {
  const names = readdirSync(EXAMPLES).flatMap((file) => /^(.*)\.ts$/.exec(file)?.[1] ?? []);
  // What follows the name is the example's.
  if (asksForHelp([name])) {
    say(
      `${helpOf(readFileSync(import.meta.filename, "utf8"))}\nNAME is one of ${names.join(", ")}.`,
    );
    return 0;
  }
  if (!names.includes(name))
    refuse(import.meta.filename, `there is no example "${name}", but ${names.join(", ")}`);
  if (process.env["KUBECONFIG"]) return run(name, words, process.env["KUBECONFIG"]);
  const folder = mkdtempSync(join(tmpdir(), "secretcast-example-"));
  const sandbox = await startSandbox({ shallowKinds: true });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  const definition = join(EXAMPLES, `${name}.yaml`);
  if (existsSync(definition))
    sandbox.load(loadAll(readFileSync(definition, "utf8")).filter((each) => isObject(each)));
  const receiver = createServer((request, response) => {
    request.on("data", (body: Buffer) => say(`webhook: ${body.toString()}`));
    request.on("end", () => response.writeHead(204).end());
  });
  try {
    say(`no KUBECONFIG: an in-memory Kubernetes API on ${sandbox.url}. In another terminal:`);
    say(`  export KUBECONFIG=${kubeconfig}`);
    say(`  kubectl ${TRY[name] ?? "get all"}`);
    const given = name === "notifier" && words.length === 0 ? await notified(receiver) : words;
    return await run(name, given, kubeconfig);
  } finally {
    receiver.close();
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function notified(receiver: ReturnType<typeof createServer>): Promise<readonly string[]> {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const address = receiver.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return [`http://127.0.0.1:${port}/`, "Pod", "Deployment", "ConfigMap"];
}

async function run(name: string, words: readonly string[], kubeconfig: string): Promise<number> {
  const file = join(EXAMPLES, `${name}.ts`);
  const child = spawn(process.execPath, ["--conditions=secretcast-source", file, ...words], {
    stdio: "inherit",
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  // A terminal's Ctrl-C reaches the example by itself.
  process.on("SIGINT", () => undefined).on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
}

process.exitCode = await main(process.argv.slice(2));
