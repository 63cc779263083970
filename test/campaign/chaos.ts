// Scripts one after the other, each with a seed of its own, so that the one that fails is played again
// by its seed alone. A failing script is shrunk to a short one, which is what becomes a test.
import * as fc from "fast-check";
import { drawn, LONGEST_SCRIPT } from "./scripts/draw.ts";
import type { FailedSeed } from "./scripts/failed-seeds.ts";
import type { Script } from "./scripts/script.ts";
import { shrink } from "./scripts/shrink.ts";
import { play, type Played } from "./stages/stage.ts";

/** So that of a run that is cut off it is known how far it came. */
const TELLS_EVERY_MS = 60_000;

export type ChaosOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly draw: number;
  readonly runs: number;
  readonly print: (line: string) => void;
};
/** Where scripts are played. */
export type ChaosStage = {
  /** How it is chosen on the command line. */
  readonly flags: string;
  /** Steps of a script. */
  readonly shortest: number;
  readonly longest: number;
  /** What is not short by then is reported as it is. */
  readonly shrinksMostMs: number;
  readonly play: (script: Script) => Promise<Played>;
};
export const IN_MEMORY: ChaosStage = {
  flags: "",
  shortest: 1,
  longest: LONGEST_SCRIPT,
  shrinksMostMs: 120_000,
  play,
};

/** Resolves with whether nothing was wrong. Ends with the script that is played when the time is over. */
export async function chaos(options: ChaosOptions, stage = IN_MEMORY): Promise<boolean> {
  const { minutes, seed, draw, runs, print } = options;
  print(`${stage.flags}--seed ${seed} --draw ${draw}`);
  const began = performance.now();
  const until = began + minutes * 60_000;
  let reported = began;
  let [played, steps, writes] = [0, 0, 0];
  for (; played < runs && performance.now() < until; played++) {
    const script = scriptOf({ seed: seed + played, draw }, stage);
    const end = await stage.play(script);
    steps += script.steps.length;
    writes += end.writes;
    if (end.wrong.length > 0) {
      await tell({ seed: seed + played, draw }, { script, wrong: end.wrong }, stage, print);
      return false;
    }
    if (performance.now() - reported < TELLS_EVERY_MS) continue;
    reported = performance.now();
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
  stage = IN_MEMORY,
): Promise<boolean> {
  let all = true;
  for (const seed of failed) {
    const script = scriptOf(seed, stage);
    const { wrong } = await stage.play(script);
    if (wrong.length > 0) await tell(seed, { script, wrong }, stage, print);
    all &&= wrong.length === 0;
  }
  if (all) print(`${failed.length} seeds that failed once, nothing wrong`);
  return all;
}

type Failure = { readonly script: Script; readonly wrong: readonly string[] };

function scriptOf({ seed, draw }: FailedSeed, { shortest, longest }: ChaosStage): Script {
  const [script] = fc.sample(drawn(draw, shortest, longest), { seed, numRuns: 1 });
  if (!script) throw new Error(`test: nothing is drawn for seed ${seed}`);
  return script;
}

async function tell(
  { seed, draw }: FailedSeed,
  failure: Failure,
  stage: ChaosStage,
  print: (line: string) => void,
): Promise<void> {
  const { script, wrong } = await shrunk(failure, stage);
  const flags = `${stage.flags}--seed ${seed} --draw ${draw}`;
  print(`FAILED, and again by: npm run chaos -- ${flags} --runs 1`);
  for (const line of wrong) print(`  ${line}`);
  print(`shrunk to ${script.steps.length} steps: ${JSON.stringify(script)}`);
  print(
    "keep it: the seed in test/campaign/scripts/failed-seeds.ts, the script in test/campaign/scripts/found.test.ts",
  );
}

async function shrunk(first: Failure, { play, shrinksMostMs }: ChaosStage): Promise<Failure> {
  let failure = first;
  const until = performance.now() + shrinksMostMs;
  const fails = async (script: Script): Promise<boolean> => {
    const { wrong } = await play(script);
    if (wrong.length > 0) failure = { script, wrong };
    return wrong.length > 0;
  };
  await shrink(first.script, fails, () => performance.now() >= until);
  return failure;
}
