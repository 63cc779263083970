// Every command of an installed program: against its own sandbox, with words under which it must end with 0.
import assert from "node:assert/strict";
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import { helpWords } from "../../../src/cli/completion/help-words.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

type Words = { readonly words: readonly string[]; readonly shows: RegExp };

const COMMANDS: Readonly<Record<string, Words>> = {
  // The demo holds the Lease of the usual name.
  run: { words: ["--once", "--lease-name", "another"], shows: /./ },
  plan: { words: ["-o", "json"], shows: /"kind": "PlanList"/ },
  status: { words: ["-o", "json"], shows: /"kind": "StatusList"/ },
  explain: {
    words: ["registry", "-n", "secretcast"],
    shows: /^current +3 +team-a, team-b, team-c/m,
  },
  check: { words: [], shows: /^ok +server version/m },
  rights: { words: ["--only-names", "registry"], shows: /^ {4}resourceNames: \[registry\]$/m },
  completion: { words: ["bash"], shows: /^complete -F _secretcast secretcast$/m },
  rotation: {
    words: ["registry", "-n", "secretcast"],
    shows: /^secretcast +registry +source +present /m,
  },
  inventory: { words: ["-o", "csv"], shows: /^secrets,secretcast,registry,true,kubernetes\.io/m },
  migrate: { words: ["--from", "reflector"], shows: /^/ },
};

export type Installed = {
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
};

export type Demo = {
  /** With the sandbox's kubeconfig. */
  readonly run: (...words: readonly string[]) => SpawnSyncReturns<string>;
  /** Everything that it printed. */
  readonly said: () => string;
};

/** `secretcast sandbox` of that program, once its example has converged; it ends with the test. */
export async function startDemo(t: Ending, { program, env, cwd }: Installed): Promise<Demo> {
  const demo = spawn(program, ["sandbox"], { env, cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(demo, "exit");
  t.after(async () => {
    demo.kill("SIGTERM");
    // As it ends it keeps what Node compiled.
    await ended;
  });
  let said = "";
  demo.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await eventually("the example has converged", () =>
    said.includes("The controller keeps running"),
  );
  const config = { ...env, KUBECONFIG: /kubeconfig (\S+)/.exec(said)?.[1] };
  return {
    run: (...words) => spawnSync(program, words, { encoding: "utf8", env: config, cwd }),
    said: () => said,
  };
}

/** Every command that the help lists. */
export function runEveryCommand({ run }: Demo): void {
  const { commands } = helpWords(run("--help").stdout);
  assert.ok(commands.length > 5);
  for (const { name } of commands) {
    if (name === "sandbox") continue;
    const { words, shows } = COMMANDS[name] ?? assert.fail(`${name} is not tried here`);
    const { status, stdout, stderr } = run(name, ...words);
    assert.equal(status, 0, `${name}: ${stderr}${stdout}`);
    assert.match(stdout, shows, name);
  }
}
