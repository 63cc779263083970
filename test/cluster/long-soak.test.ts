// The first half minute of the long soak, so that the hours begin when somebody wants them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { soak } from "../campaign/soak.ts";
import { readRecords } from "../campaign/judges/records.ts";
import { judgeSoak } from "../campaign/judges/verdict.ts";
import { assetsFolder } from "../support/api-server/cluster.ts";

test("the process on a real API server survives half a minute of faults", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-soak-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const print = (line: string): void => t.diagnostic(line);
  const assets = assetsFolder();
  const records = readRecords(
    await soak({ hours: 1 / 120, rate: 5, seed: 5, assets, folder, print }),
  );
  const { lines, problems } = judgeSoak(records);
  for (const line of lines) print(line);
  assert.deepEqual(problems, []);
  const kinds = new Set(records.map(({ kind }) => kind));
  assert.deepEqual(kinds, new Set(["begin", "sample", "latency", "end"]));
});
