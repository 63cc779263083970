// How a scenario ends: its scene is judged when its last step has passed. A scenario that runs for each kind of
// objects, and under --only-names, is made by both-kinds.ts.
import { test, type TestContext } from "node:test";

export type Run = (t: TestContext) => Promise<void>;

type Judged = { readonly isFinished: boolean; finish(): Promise<unknown> };
const scenes = new WeakMap<TestContext, Judged>();

/** The scene is judged when the scenario has passed, unless it was or says that something is left to write. */
export function endsWith(t: TestContext, scene: Judged): void {
  scenes.set(t, scene);
}

export async function play(t: TestContext, run: Run): Promise<void> {
  await run(t);
  const scene = scenes.get(t);
  if (scene?.isFinished === false) await scene.finish();
}

type Options = { readonly skip?: string | false };

/** A scenario that says itself what its objects are. */
export function ofSecrets(name: string, ...rest: readonly [Run] | readonly [Options, Run]): void {
  const [options, run]: readonly [Options, Run] = rest.length === 1 ? [{}, rest[0]] : rest;
  test(name, options, (t) => play(t, run));
}
