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
  1: "0ebff59ef97da16f",
  2: "1351d5777cfcbc66",
  3: "b43bd05da969e1e8",
  4: "80ba5080da7fb978",
  5: "2a9f43ab9b77bef6",
  6: "454dec5c96f0cbef",
  7: "f65557fd0e8f19f8",
};

for (const [draw, digest] of Object.entries(DIGESTS))
  test(`the scripts of a seed by draw ${draw} are those of its first day`, () => {
    const hash = createHash("sha256");
    for (let seed = 1; seed <= 50; seed++) {
      const [script] = fc.sample(drawn(Number(draw)), { seed, numRuns: 1 });
      hash.update(JSON.stringify(script));
    }
    assert.equal(hash.digest("hex").slice(0, 16), digest);
  });

test("the newest draw and the draw of each kept seed have a digest", () => {
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
