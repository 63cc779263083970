// A failing script made short: nothing is left but what it takes to fail.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { drawn } from "./draw.ts";
import { PLAIN_SCRIPT, type Script } from "./script.ts";
import { shrink } from "./shrink.ts";

const [LONG] = fc.sample(drawn(1, 400, 400), { seed: 3, numRuns: 1 });

async function shortest(fails: (script: Script) => boolean, mostPlays: number): Promise<Script> {
  assert.ok(LONG);
  let [script, plays] = [LONG, 0];
  const failing = async (shorter: Script): Promise<boolean> => {
    plays++;
    if (fails(shorter)) script = shorter;
    return fails(shorter);
  };
  await shrink(LONG, failing, () => plays >= mostPlays);
  return script;
}

const kindsOf = ({ steps }: Script): readonly string[] => steps.map(({ kind }) => kind);

test("400 steps shrink to the two needed ones, in order, with plain settings", async () => {
  const isOne = (script: Script): boolean => {
    const kinds = kindsOf(script);
    return kinds.lastIndexOf("roll out") > kinds.indexOf("restart") && kinds.includes("restart");
  };
  assert.ok(LONG && isOne(LONG));
  const { steps, ...rest } = await shortest(isOne, 10_000);
  assert.deepEqual(kindsOf({ ...rest, steps }), ["restart", "roll out"]);
  assert.deepEqual(rest, PLAIN_SCRIPT);
});

test("when there is no more time the shortest so far is the result", async () => {
  const fails = (script: Script): boolean => kindsOf(script).includes("roll out");
  const { steps } = await shortest(fails, 3);
  assert.ok(steps.length < 400 && steps.length > 1, `${steps.length} steps`);
});
