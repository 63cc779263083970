// What a process of a campaign said last decides whether its end was right, so it is heard before that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { WatchedProcess } from "./watched-process.ts";

test("a process that ends by itself is judged after its last line and restarted", async (t) => {
  const reported: string[] = [];
  const watched = new WatchedProcess({
    endings: t,
    command: undefined,
    kubeconfig: "/nowhere/kubeconfig",
    flags: { "delete-grace": "soon" },
    values: [],
    onTold: () => undefined,
    onStart: () => void reported.push("started"),
    onLine: (line) => {
      if (line.includes("delete-grace")) reported.push("said why");
    },
    onEnd: (life, code) => void reported.push(`process ${life} ended with ${String(code)}`),
  });
  t.after(() => watched.stop());
  await eventually("it is started again", () => watched.life > 1, 60_000);
  assert.deepEqual(reported.slice(0, 4), [
    "started",
    "said why",
    "process 1 ended with 1",
    "started",
  ]);
});
