// A short soak, so that the long one (npm run soak) starts when somebody wants it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readRecords } from "./judges/records.ts";
import { judgeSoak } from "./judges/verdict.ts";
import { soak } from "./soak.ts";

test("the process comes through twelve seconds of faults to the right state, and leaks nothing", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-soak-"));
  t.after(() => rmSync(folder, { recursive: true }));
  // Always the same one here, so that this test does not fail by chance.
  const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? 1);
  const print = (line: string): void => t.diagnostic(line);
  const hours = 0.2 / 60;
  const file = await soak({ hours, rate: 5, seed, assets: undefined, folder, print });
  const records = readRecords(file);
  const { lines, problems } = judgeSoak(records);
  for (const line of lines) print(line);
  assert.deepEqual(problems, [], `npm run soak -- --minutes 0.2 --seed ${seed}`);
  const kinds = new Set(records.map(({ kind }) => kind));
  for (const kind of ["begin", "sample", "end"] as const) assert.ok(kinds.has(kind), kind);
});
