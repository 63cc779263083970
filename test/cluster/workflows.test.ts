// The workflows, judged by actionlint: their words, their expressions, the actions' own inputs, and by
// shellcheck the scripts in them where that is on PATH.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const asked = spawnSync("actionlint", ["-version"], { encoding: "utf8" });
const skip = asked.status !== 0 && "there is no actionlint on PATH, and no Go to build one";

const lint = (words: readonly string[], input = "") =>
  spawnSync("actionlint", ["-no-color", ...words], { cwd: ROOT, input, encoding: "utf8" });

test("actionlint has nothing to say against the workflows", { skip }, () => {
  const files = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
  for (const words of [[], files]) {
    const { status, stdout, stderr } = lint(words);
    assert.equal(status, 0, stdout + stderr);
  }
});

test("it would say so: a workflow with a word that does not exist is reported", { skip }, () => {
  const wrong = "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    step: []\n";
  const { status, stdout } = lint(["-"], wrong);
  assert.equal(status, 1);
  assert.match(stdout, /unexpected key "step" for "job" section/);
});
