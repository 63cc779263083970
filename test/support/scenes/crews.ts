// The cast of the scenarios about watches and operations: two crews' namespaces, an unmanaged object beside
// their copies, and a source called registry for all crews. In a list of all Secrets the crews come
// before the source.
import { annotationKey } from "../../../src/controller/annotations/vocabulary.ts";
import type { Scene } from "./scene.ts";

export const ONE = { password: "one" };
export const TWO = { password: "two" };

/** The crews' namespaces. */
export async function crews(scene: Scene): Promise<readonly string[]> {
  const namespaces = await Promise.all(["crew-a", "crew-b"].map((crew) => scene.namespace(crew)));
  for (const namespace of namespaces) await scene.unmanaged(namespace, "own", { data: ONE });
  await source(scene, "registry");
  return namespaces;
}

export async function source(scene: Scene, name: string): Promise<void> {
  const annotations = { [annotationKey("to")]: scene.name("crew-*") };
  await scene.api.createSecret(scene.source, name, { annotations, data: ONE });
}

export async function all(
  scene: Scene,
  namespaces: readonly string[],
  data: Readonly<Record<string, string>>,
): Promise<void> {
  for (const namespace of namespaces) await scene.holds(namespace, "registry", data);
}

/** Crews with their copies, as an earlier controller left them. */
export async function copied(scene: Scene): Promise<readonly string[]> {
  const namespaces = await crews(scene);
  await scene.start({ once: true }).ended;
  await all(scene, namespaces, ONE);
  return namespaces;
}
