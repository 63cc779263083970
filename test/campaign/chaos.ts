// Scripts one after the other, each with a seed of its own, so that the one that fails is played again
// by its seed alone. A failing script is shrunk to a short one, which is what becomes a test.
import * as fc from "fast-check";
import { drawn } from "./scripts/draw.ts";
import type { FailedSeed } from "./scripts/failed-seeds.ts";
import type { Script } from "./scripts/script.ts";
import { shrink } from "./scripts/shrink.ts";
import { play as playOnStage, type Verdict } from "./stages/stage.ts";

/** So that of a run that is cut off it is known how far it came. */
const TELLS_EVERY_MS = 60_000;
/** What is not short by then is told as it is. */
const SHRINKS_MOST_MS = 120_000;

export type ChaosOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly draw: number;
  readonly runs: number;
  readonly print: (line: string) => void;
};
/** For tests of what is said. */
export type Playing = {
  readonly play?: (script: Script) => Promise<Pick<Verdict, "wrong" | "writes">>;
  readonly shrinksMostMs?: number;
};

/** Resolves with whether nothing was wrong. Ends with the script that is played when the time is over. */
export async function chaos(options: ChaosOptions, playing: Playing = {}): Promise<boolean> {
  const { minutes, seed, draw, runs, print } = options;
  print(`--seed ${seed} --draw ${draw}`);
  const began = performance.now();
  const until = began + minutes * 60_000;
  let told = began;
  let [played, steps, writes] = [0, 0, 0];
  for (; played < runs && performance.now() < until; played++) {
    const failure = await one({ seed: seed + played, draw }, playing, (script, made) => {
      steps += script.steps.length;
      writes += made;
    });
    if (failure) {
      tell({ seed: seed + played, draw }, failure, print);
      return false;
    }
    if (performance.now() - told < TELLS_EVERY_MS) continue;
    told = performance.now();
    print(`${played + 1} scripts, ${steps} operations so far`);
  }
  const seconds = (performance.now() - began) / 1000;
  print(
    `${played} scripts, ${steps} operations, ${writes} writes, nothing wrong: ${Math.round(steps / seconds)} operations a second`,
  );
  return true;
}

/** The seeds that failed once, each by its own draw. Resolves with whether none does now. */
export async function replay(
  failed: readonly FailedSeed[],
  print: (line: string) => void,
  playing: Playing = {},
): Promise<boolean> {
  let all = true;
  for (const seed of failed) {
    const failure = await one(seed, playing, () => undefined);
    if (failure) tell(seed, failure, print);
    all &&= !failure;
  }
  if (all) print(`${failed.length} seeds that failed once, nothing wrong`);
  return all;
}

type Seed = { readonly seed: number; readonly draw: number };
type Failure = { readonly script: Script; readonly wrong: readonly string[] };

function tell({ seed, draw }: Seed, failure: Failure, print: (line: string) => void): void {
  print(`FAILED, and again by: npm run chaos -- --seed ${seed} --draw ${draw} --runs 1`);
  for (const line of failure.wrong) print(`  ${line}`);
  print(`shrunk to ${failure.script.steps.length} steps: ${JSON.stringify(failure.script)}`);
  print(
    "keep it: the seed in test/campaign/scripts/failed-seeds.ts, the script in test/campaign/scripts/found.test.ts",
  );
}

async function one(
  { seed, draw }: Seed,
  { play = playOnStage, shrinksMostMs = SHRINKS_MOST_MS }: Playing,
  onPlayed: (script: Script, writes: number) => void,
): Promise<Failure | undefined> {
  const [script] = fc.sample(drawn(draw), { seed, numRuns: 1 });
  if (!script) throw new Error(`test: nothing is drawn for seed ${seed}`);
  const { wrong, writes } = await play(script);
  onPlayed(script, writes);
  if (wrong.length === 0) return undefined;
  let failure: Failure = { script, wrong };
  const until = performance.now() + shrinksMostMs;
  const fails = async (shorter: Script): Promise<boolean> => {
    const verdict = await play(shorter);
    if (verdict.wrong.length > 0) failure = { script: shorter, wrong: verdict.wrong };
    return verdict.wrong.length > 0;
  };
  await shrink(script, fails, () => performance.now() >= until);
  return failure;
}
