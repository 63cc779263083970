// What chaos found, as short as it could be shrunk: each was wrong once.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChaosStep, Script } from "./script.ts";
import { play } from "./stage.ts";

const FOUND: Readonly<Record<string, Partial<Script> & { readonly steps: readonly ChaosStep[] }>> =
  {
    "a source made again as a Helm release, which no watch shows, is gone for good": {
      steps: [
        {
          kind: "source",
          namespace: "shared",
          name: "two",
          words: { to: "*" },
          type: "Opaque",
          immutable: true,
        },
        {
          kind: "source",
          namespace: "shared",
          name: "two",
          words: { to: "*" },
          type: "helm.sh/release.v1",
          immutable: false,
        },
        { kind: "pass", ms: 400_000 },
        { kind: "delete", namespace: "shared", name: "two" },
      ],
    },
    "a process that may not release its Lease ends all the same": {
      replicas: 2,
      steps: [
        { kind: "pass", ms: 2000 },
        { kind: "requests", fault: "409", likelihood: 1, ms: 20_000 },
        { kind: "restart", replica: 0, how: "stop" },
        { kind: "restart", replica: 1, how: "stop" },
      ],
    },
  };

for (const [name, script] of Object.entries(FOUND))
  test(name, async () => {
    const { wrong } = await play({
      chance: 0,
      replicas: 1,
      flags: 0,
      graceMs: 10_000,
      deleteLimit: 100,
      ...script,
    });
    assert.deepEqual(wrong, []);
  });
