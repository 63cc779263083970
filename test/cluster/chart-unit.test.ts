// The chart's own tests (manifests/chart/tests), as who works on the chart runs them: helm unittest manifests/chart.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folderOf } from "../../packages/kube/testing/folder.ts";

const CHART = fileURLToPath(new URL("../../manifests/chart", import.meta.url));
const asked = spawnSync("helm-unittest", ["--help"], { encoding: "utf8" });
const skip = asked.status !== 0 && "there is no helm-unittest on PATH, and no Go to build one";

const run = (chart: string) => spawnSync("helm-unittest", [chart], { encoding: "utf8" });

test("the chart's own tests pass", { skip }, () => {
  const { status, stdout, stderr } = run(CHART);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^Tests: +\d+ passed, \d+ total$/m);
});

test("a chart whose names are not passed to the controller fails its own tests", { skip }, (t) => {
  const chart = join(folderOf(t), "chart");
  cpSync(CHART, chart, { recursive: true });
  const file = join(chart, "templates/_names.tpl");
  const text = readFileSync(file, "utf8");
  const changed = text.replaceAll("--only-names=", "--no-names=");
  assert.notEqual(changed, text);
  writeFileSync(file, changed);
  const { status, stdout } = run(chart);
  assert.equal(status, 1);
  assert.match(stdout, /tells the controller these names/);
});
