// A short hostile run, so that the long one (npm run hostile) starts when somebody wants it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assetsFolder } from "../support/api-server/cluster.ts";
import { hostile } from "../campaign/hostile.ts";

test("the controller withstands a hostile tenant for three steps, and the watchers see it", async (t) => {
  // Always the same one here, so that this test does not fail by chance.
  const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? 1);
  const print = (line: string): void => t.diagnostic(line);
  const violated = await hostile({ assets: assetsFolder(), seed, minutes: 2, steps: 3, print });
  assert.deepEqual(violated, [], `npm run hostile -- --steps 3 --seed ${seed}`);
});
