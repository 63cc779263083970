// A seed that failed once is worth its place in failed-seeds.ts only as long as it says the same.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { drawn, NEWEST_DRAW } from "./draw.ts";
import {
  ANNOTATION_NAMES,
  isMark,
  NAMESPACE_ANNOTATIONS,
} from "../../../src/controller/annotations/vocabulary.ts";
import { FAILED_SEEDS } from "./failed-seeds.ts";

/** Of the first fifty seeds. Another one means that the seeds that were kept mean something else. */
const DIGESTS: Readonly<Record<number, string>> = {
  1: "2379bebc39dd9e98",
  2: "c84f61e870cfcb40",
  3: "c35c9e485dc70a5e",
  4: "8ce1e95b7b19d18c",
  5: "d4e1e48c9d98eb98",
  6: "3db3dfba29666355",
  7: "83e3d883efc3a220",
};

for (const [draw, digest] of Object.entries(DIGESTS))
  test(`the scripts of a seed by draw ${draw} are those that they were when it was made`, () => {
    const hash = createHash("sha256");
    for (let seed = 1; seed <= 50; seed++) {
      const [script] = fc.sample(drawn(Number(draw)), { seed, numRuns: 1 });
      hash.update(JSON.stringify(script));
    }
    assert.equal(hash.digest("hex").slice(0, 16), digest);
  });

test("the newest draw has a digest, and so has the draw of each seed that is kept", () => {
  assert.ok(NEWEST_DRAW in DIGESTS);
  assert.ok(FAILED_SEEDS.length > 0);
  for (const { draw } of FAILED_SEEDS) assert.ok(draw in DIGESTS, `draw ${draw}`);
});

test("the newest draw tries every annotation that users write on an object", () => {
  const scripts = JSON.stringify(fc.sample(drawn(NEWEST_DRAW), { seed: 1, numRuns: 50 }));
  const ofUsers = ANNOTATION_NAMES.filter(
    (name) => !isMark(name) && !NAMESPACE_ANNOTATIONS.includes(name),
  );
  const untried = ofUsers.filter((name) => !scripts.includes(`"word":"${name}"`));
  assert.deepEqual(untried, []);
});
