// The completion in real shells under a pseudo-terminal: what a person types, and what the shell makes of
// the tab. bash is everywhere; a shell that is not here is skipped with that reason.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import {
  openTerminal,
  shellMissing,
  type PseudoTerminal,
} from "../../support/programs/pseudo-terminal.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const ROOT = realpathSync(join(import.meta.dirname, "../../.."));

/** A folder with `secretcast` and kubectl's plugins in it, as npm links them. */
function commands(t: TestContext): string {
  const folder = folderOf(t);
  for (const name of ["secretcast", "kubectl-secretcast", "kubectl_complete-secretcast"]) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/${name}.js" "$@"\n`);
    chmodSync(file, 0o755);
  }
  symlinkSync(process.execPath, join(folder, "node"));
  return folder;
}

type Shell = {
  readonly name: "bash" | "zsh" | "fish";
  readonly start: (folder: string) => string;
  readonly rc: (folder: string) => string;
  readonly file: string;
};

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    file: "bashrc",
    rc: () =>
      "PS1='ready> '\nbind 'set show-all-if-ambiguous on'\nbind 'set enable-bracketed-paste off'\nsource <(secretcast completion bash)\n",
    start: (folder) => `bash --noprofile --rcfile ${folder}/bashrc -i`,
  },
  {
    name: "zsh",
    file: ".zshrc",
    rc: () =>
      "PS1='ready> '\nautoload -Uz compinit && compinit -u -D\nsource <(secretcast completion zsh)\n",
    start: () => "zsh -i",
  },
  {
    name: "fish",
    file: "config.fish",
    rc: () => "function fish_prompt; echo -n 'ready> '; end\nsecretcast completion fish | source\n",
    start: (folder) => `fish --no-config -i -C 'source ${folder}/config.fish'`,
  },
];

/**
 * A cluster that does not answer within two seconds completes nothing, so a busy machine is asked again;
 * not before a shell that is only slow has had a minute, for what it shows belongs to the first tab.
 */
const TRIES = 3;

async function tabbed(terminal: PseudoTerminal, typed: string, shown: RegExp): Promise<void> {
  for (let left = TRIES - 1; ; left--) {
    // Whatever stands on the line goes.
    terminal.type("\u0015");
    terminal.type(`${typed}\t`);
    try {
      await terminal.shows(shown);
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

for (const shell of SHELLS)
  test(`${shell.name} completes commands, flags, namespaces and names`, async (t) => {
    const missing = shellMissing(shell.name);
    if (missing !== undefined) return t.skip(missing);
    const { kubeconfig } = await sandboxCluster(t);
    const folder = commands(t);
    writeFileSync(join(folder, shell.file), shell.rc(folder));
    const terminal = openTerminal(shell.start(folder), {
      PATH: `${folder}:${process.env["PATH"] ?? ""}`,
      HOME: folder,
      ZDOTDIR: folder,
      KUBECONFIG: kubeconfig,
    });
    t.after(() => terminal.close());
    await terminal.shows(/ready> /);
    await tabbed(terminal, "secretcast expl", /secretcast explain /);
    await tabbed(terminal, "secretcast plan --name", /--namespace/);
    await tabbed(terminal, "secretcast plan -n tea", /team-/);
    await tabbed(terminal, "secretcast plan -n team-", /team-a[\s\S]*team-b[\s\S]*team-c/);
    await tabbed(terminal, "secretcast plan --namespace=sho", /--namespace=shop/);
    await tabbed(terminal, "secretcast explain -n secretcast ty", /typo/);
    await tabbed(terminal, "secretcast run --namespace-policy opt-o", /opt-out/);
    writeFileSync(join(folder, "a-file.yaml"), "");
    await tabbed(terminal, `secretcast plan -f ${folder}/a-fi`, /a-file\.yaml/);
  });

test("each script is one that its shell reads without a complaint", async (t) => {
  const folder = folderOf(t);
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const { code, stdout } = await commandLine(["completion", shell]);
    assert.equal(code, 0);
    assert.ok(stdout.includes("__complete"));
    if (shellMissing(shell) !== undefined) {
      t.diagnostic(`${shell} is not here`);
      continue;
    }
    const script = join(folder, shell);
    writeFileSync(script, stdout);
    const read = spawnSync(shell, ["-n", script], { encoding: "utf8" });
    assert.equal(`${read.status}${read.stderr}`, "0");
  }
});

test("PowerShell completes commands, flags, namespaces and files", async (t) => {
  const missing = shellMissing("pwsh");
  if (missing !== undefined) return t.skip(missing);
  const { kubeconfig } = await sandboxCluster(t);
  const folder = commands(t);
  const env = {
    PATH: `${folder}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    KUBECONFIG: kubeconfig,
  };
  const script = join(folder, "offers.ps1");
  writeFileSync(join(folder, "a-file.yaml"), "");
  const offers: Readonly<Record<string, RegExp>> = {
    "secretcast expl": /^explain$/,
    "secretcast ": /^plan$/m,
    "secretcast plan --name": /^--namespace$/m,
    "secretcast plan -n tea": /^team-a\nteam-b\nteam-c$/,
    "secretcast plan --namespace=sho": /^--namespace=shop$/,
    "secretcast plan -n nowhere": /^$/,
    [`secretcast plan -f ${folder}/a-fi`]: /a-file\.yaml$/,
  };
  for (const [typed, expected] of Object.entries(offers)) {
    const offer = `(TabExpansion2 '${typed}' ${typed.length}).CompletionMatches.CompletionText`;
    const source = "secretcast completion powershell | Out-String | Invoke-Expression";
    writeFileSync(script, `${source}\n${offer}\n`);
    // The sandbox lives in this process, so it is not waited for synchronously.
    const words = ["-NoProfile", "-NonInteractive", "-File", script];
    const { stdout } = await promisify(execFile)("pwsh", words, { env });
    assert.match(stdout.trimEnd(), expected, typed);
  }
});

test("another shell is one clear line", async () => {
  const { code, stderr } = await commandLine(["completion", "tcsh"]);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    'secretcast: no completion for "tcsh": there is bash, zsh, fish, powershell\n',
  );
});

test("kubectl finds the plugin, and completes it", async (t) => {
  const missing = shellMissing("kubectl");
  if (missing !== undefined) return t.skip(missing);
  const { kubeconfig } = await sandboxCluster(t);
  const folder = commands(t);
  const env = {
    PATH: `${folder}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    KUBECONFIG: kubeconfig,
  };
  const kubectl = (...args: readonly string[]) =>
    spawnSync("kubectl", args, { env, encoding: "utf8" });
  const version = kubectl("secretcast", "--version");
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/, version.stderr);
  // The sandbox lives in this process: what asks it is not waited for synchronously.
  const commandsOffered = kubectl("__complete", "secretcast", "expl").stdout;
  assert.match(commandsOffered, /^explain\tWhy a Secret/);
  assert.match(
    kubectl("__complete", "secretcast", "plan", "-o", "").stdout,
    /^wide\njson\nyaml\nname\n/,
  );
});
