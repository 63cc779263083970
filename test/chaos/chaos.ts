// Scripts one after the other, each with a seed of its own, so that the one that fails is played again
// by its seed alone. A failing script is shrunk to a short one, which is what becomes a test.
import * as fc from "fast-check";
import { scripts } from "./draw.ts";
import type { Script } from "./script.ts";
import { play } from "./stage.ts";

/** Scripts, so that of a run that is cut off it is known how far it came. */
const TELLS_EVERY = 100;

export type ChaosOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly runs: number;
  readonly print: (line: string) => void;
};

/** Resolves with whether nothing was wrong. */
export async function chaos({ minutes, seed, runs, print }: ChaosOptions): Promise<boolean> {
  print(`--seed ${seed}`);
  const until = performance.now() + minutes * 60_000;
  const began = performance.now();
  let [played, steps, writes] = [0, 0, 0];
  for (; played < runs && performance.now() < until; played++) {
    const failure = await one(seed + played, (script, made) => {
      steps += script.steps.length;
      writes += made;
    });
    if ((played + 1) % TELLS_EVERY === 0)
      print(`${played + 1} scripts, ${steps} operations so far`);
    if (!failure) continue;
    print(`--seed ${seed + played} --runs 1 fails:`);
    for (const line of failure.wrong) print(`  ${line}`);
    print(`shrunk to ${failure.script.steps.length} steps: ${JSON.stringify(failure.script)}`);
    return false;
  }
  const seconds = (performance.now() - began) / 1000;
  print(
    `${played} scripts, ${steps} operations, ${writes} writes, nothing wrong: ${Math.round(steps / seconds)} operations a second`,
  );
  return true;
}

type Failure = { readonly script: Script; readonly wrong: readonly string[] };

async function one(
  seed: number,
  onPlayed: (script: Script, writes: number) => void,
): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  const property = fc.asyncProperty(scripts, async (script) => {
    const { wrong, writes } = await play(script);
    onPlayed(script, writes);
    if (wrong.length > 0) failure = { script, wrong };
    return wrong.length === 0;
  });
  await fc.check(property, { seed, numRuns: 1 });
  return failure;
}
