// What several scenarios start from: a source "registry" for all the teams, a namespace "team-a" that
// takes it, and "team-taken", where somebody else's Secret of that name is in the way.
import assert from "node:assert/strict";
import type { NewSecret, RawSecret } from "./api.ts";
import type { Scene } from "./scene.ts";

export const ONE = { password: "one" };
export const TWO = { password: "two" };
export const MINE = { mine: "untouched" };
export const LOGIN = { username: "ada", password: "one" };

/** Resolves to the name of "team-a". */
export async function stage(scene: Scene, source: NewSecret): Promise<string> {
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: MINE });
  await publish(scene, source);
  return scene.namespace("team-a");
}

/** A source for the namespaces whose names begin with "team-". */
export async function publish(
  scene: Scene,
  source: NewSecret,
  namespace = scene.source,
): Promise<RawSecret> {
  const annotations = { "secretcast.io/to": scene.name("team-*"), ...source.annotations };
  return scene.api.createSecret(namespace, "registry", { ...source, annotations });
}

/** The same, which holds `ONE` unless told otherwise. */
export function publishOne(
  scene: Scene,
  rest: NewSecret = {},
  namespace = scene.source,
): Promise<RawSecret> {
  return publish(scene, { data: ONE, ...rest }, namespace);
}

/** A source of `ONE`, its copies in `namespaces`, and no controller any more. */
export async function copied(scene: Scene, ...namespaces: readonly string[]): Promise<void> {
  await publishOne(scene);
  const running = scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", ONE);
  await running.stop();
}

export async function copyIn(scene: Scene, namespace: string): Promise<RawSecret> {
  const copy = await scene.api.secret(namespace, "registry");
  assert.ok(copy, `the copy in ${namespace} is there`);
  return copy;
}
