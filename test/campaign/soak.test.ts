// A short soak, so that the long one (npm run soak) starts when somebody wants it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak.ts";

test("the controller comes through twelve seconds of faults to the right state, and leaks nothing", async (t) => {
  const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? Math.floor(Math.random() * 1e6));
  const problems = await soak({ minutes: 0.2, seed, print: (line) => t.diagnostic(line) });
  assert.deepEqual(problems, [], `npm run soak -- --minutes 0.2 --seed ${seed}`);
});
