// What a process of a campaign said last decides whether its end was right, so it is heard before that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { WatchedProcess } from "./watched-process.ts";

test("a process that ends by itself is heard to its last line, then judged, then started again", async (t) => {
  const told: string[] = [];
  const watched = new WatchedProcess({
    endings: t,
    command: undefined,
    kubeconfig: "/nowhere/kubeconfig",
    flags: { "delete-grace": "soon" },
    values: [],
    onTold: () => undefined,
    onStart: () => void told.push("started"),
    onLine: (line) => {
      if (line.includes("delete-grace")) told.push("said why");
    },
    onEnd: (life, code) => void told.push(`process ${life} ended with ${String(code)}`),
  });
  t.after(() => watched.stop());
  await eventually("it is started again", () => watched.life > 1, 60_000);
  assert.deepEqual(told.slice(0, 4), ["started", "said why", "process 1 ended with 1", "started"]);
});
