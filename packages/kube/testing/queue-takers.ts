// How the queue tests take keys: at once, or with the certainty that a get() is still waiting.
import assert from "node:assert/strict";
import type { WorkQueue } from "../workqueue/queue.ts";
import { settle } from "./fake-clock.ts";

/** The next key, which must be there already. */
export async function take<K>(queue: WorkQueue<K>): Promise<K> {
  assert.ok(queue.length > 0, "the queue has no key ready");
  const item = await queue.get();
  assert.ok(!item.shutdown, "the queue is shut down");
  return item.key;
}

/** Takes every ready key, in order, and finishes each. */
export async function takeAll<K>(queue: WorkQueue<K>): Promise<K[]> {
  const keys: K[] = [];
  while (queue.length > 0) {
    const key = await take(queue);
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

/** A promise and whether it is settled by now. */
export function watched<T>(promise: Promise<T>): { value(): Promise<T | "pending"> } {
  let settled = false;
  const done = promise.finally(() => void (settled = true));
  // A rejection belongs to whoever asks for the value, however late.
  done.catch(() => {});
  return {
    async value() {
      await settle();
      return settled ? done : "pending";
    },
  };
}
