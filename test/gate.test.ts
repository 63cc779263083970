// The action for pull requests, played on a real clone, and the hook for pre-commit.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { planCommand } from "../src/cli/plan/plan-command.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const text = (file: string): string => readFileSync(join(ROOT, file), "utf8");
type Step = {
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Readonly<Record<string, string>>;
};
type Action = {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};
const action = load(text("action.yml")) as Action;
const { version } = JSON.parse(text("package.json")) as { readonly version: string };
const step = action.runs.steps.find(({ run }) => run !== undefined) ?? assert.fail();

test("no input of the action is pasted into a shell", () => {
  for (const { run = "" } of action.runs.steps) assert.doesNotMatch(run, /\$\{\{/);
  for (const { uses } of action.runs.steps) if (uses) assert.match(uses, /@[0-9a-f]{40}$/);
  assert.equal(action.inputs["version"]?.default, version);
});

const NAMESPACES = "apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a }\n---\n";
const source = (to: string): string =>
  `${NAMESPACES}apiVersion: v1\nkind: Secret\nmetadata: { name: db, namespace: secretcast, annotations: { secretcast.io/to: "${to}" } }\n`;

/** A clone whose last commit changes manifests/a.yaml; runs the step as a runner does. */
function play(t: TestContext, before: string | undefined, after: string, allowed = "") {
  const repository = folderOf(t);
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      cwd: repository,
      encoding: "utf8",
    }).trim();
  const commit = (content: string | undefined): string => {
    mkdirSync(join(repository, "manifests"), { recursive: true });
    if (content !== undefined) writeFileSync(join(repository, "manifests/a.yaml"), content);
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", "x");
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet");
  const base = commit(before);
  commit(after);
  const bin = folderOf(t);
  const program = join(ROOT, "bin/secretcast.js");
  const stand = (name: string, script: string): void =>
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  stand("npx", `shift 2\nexec "${process.execPath}" "${program}" "$@"`);
  stand("gh", `echo "gh $*" >>"${bin}/gh.log"`);
  const [output, summary] = [join(bin, "output"), join(bin, "summary")];
  const { status, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", step.run ?? ""], {
    cwd: repository,
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: `${bin}:${process.env["PATH"]}`,
      FILES: "manifests\n",
      BASE: base,
      ALLOWED: allowed,
      SOURCES: "",
      COMMENT: "true",
      VERSION: version,
      PULL_REQUEST: "7",
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    },
  });
  assert.equal(git("worktree", "list").split("\n").length, 1, "no worktree is left");
  return {
    status,
    stderr,
    output: readFileSync(output, "utf8"),
    summary: readFileSync(summary, "utf8"),
    log: readFileSync(join(bin, "gh.log"), "utf8"),
  };
}

test("the action fails for a new reader, and writes the table to summary and comment", (t) => {
  const { status, stderr, output, summary, log } = play(t, source("team-x"), source("team-*"));
  assert.equal(status, 2, stderr);
  assert.equal(output, "code=2\n");
  assert.match(summary, /\| `secretcast\/db` \| \*\*`team-a`\*\* \|  \|/);
  assert.match(log, /^gh pr comment 7 --edit-last --create-if-none --body-file \S+readers\.md$/m);
});

test("the action passes for a new reader that is allowed, also of a new file", (t) => {
  const { status, stderr, summary } = play(t, undefined, source("team-*"), "team-*");
  assert.equal(status, 0, stderr);
  assert.match(summary, /`team-a`/);
});

test("the hook of pre-commit runs a command that there is", () => {
  const [hook, ...more] = load(text(".pre-commit-hooks.yaml")) as readonly {
    readonly entry: string;
    readonly pass_filenames: boolean;
  }[];
  assert.deepEqual(more, []);
  assert.equal(hook?.entry, `secretcast ${planCommand.words}`);
  assert.equal(hook.pass_filenames, false);
});
