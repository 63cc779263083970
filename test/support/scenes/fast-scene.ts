// A scene whose controllers live five seconds in one: one write a place and second, back-offs and
// graces are slow to watch. The API server and the test itself keep real time.
import type { TestContext } from "node:test";
import { ElasticClock } from "../time/elastic-clock.ts";
import { openScene, type Scene } from "./scene.ts";

const SPEED = 5;

export async function openFastScene(t: TestContext): Promise<Scene> {
  const scene = await openScene(t);
  const clock = new ElasticClock();
  clock.run(SPEED);
  scene.clock = clock;
  return scene;
}
