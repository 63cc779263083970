// Sources for scenes.
import type { Scene } from "./scene.ts";

/** Publishes from `namespace` one source for each of `cases`: name to words under our prefix. */
export async function publishAll(
  scene: Scene,
  namespace: string,
  cases: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  for (const [name, words] of Object.entries(cases)) {
    const entries = Object.entries(words).map(([word, value]) => [`secretcast.io/${word}`, value]);
    const annotations = Object.fromEntries(entries);
    await scene.api.createSecret(namespace, name, { annotations, data: { password: "one" } });
  }
}
