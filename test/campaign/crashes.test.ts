// An eventful scenario, and the process killed with each of its requests in turn: before the API server
// acted, and after it acted and nobody heard the answer. Each time the process that comes anew ends with
// the world as it must be, every write on the way being right, and nothing is left to write.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_FLAGS, type ChaosStep, type Script } from "./scripts/script.ts";
import { play } from "./stages/stage.ts";
import type { Texts } from "./model/raw.ts";
import { isBrief } from "../support/time/extent.ts";

const wait: ChaosStep = { kind: "pass", ms: 2000 };
const source = (name: string, words: Texts, type = "Opaque", immutable = false): ChaosStep => {
  return { kind: "source", namespace: "shared", name, words, type, immutable };
};
const SCENARIO: Script = {
  chance: 1,
  replicas: 1,
  flags: PLAIN_FLAGS,
  graceMs: 1000,
  deleteLimit: 100,
  sourceGraceMs: 10_000,
  holdMs: 0,
  steps: [
    { kind: "stranger", namespace: "team-b", name: "two", words: { adopt: "shared/two" } },
    { kind: "stranger", namespace: "team-c", name: "one", words: {} },
    source("one", { to: "*", allow: "*", "copy-labels": "*" }),
    source("two", { to: "team-*", "on-delete": "keep" }, "Opaque", true),
    wait,
    { kind: "pull", namespace: "team-a", name: "pull-1", words: { from: "shared/one" } },
    { kind: "rotate", namespace: "shared", name: "one" },
    wait,
    // Made again with another type: every copy is replaced.
    source("one", { to: "*", allow: "*", keys: "*,pass=password" }, "example.com/x"),
    { kind: "edit", namespace: "team-a", name: "two" },
    wait,
    {
      kind: "namespace",
      namespace: "team-b",
      words: { accept: "false" },
      tier: "gold",
      gone: false,
    },
    { kind: "say", namespace: "shared", name: "one", word: "allow", value: null },
    wait,
    // The older wins; then the younger takes over what the older leaves.
    {
      kind: "source",
      namespace: "shared-2",
      name: "one",
      words: { to: "team-*" },
      type: "Opaque",
      immutable: false,
    },
    { kind: "delete", namespace: "shared", name: "two" },
    wait,
    { kind: "delete", namespace: "shared", name: "one" },
    { kind: "namespace", namespace: "team-c", words: {}, tier: "tin", gone: true },
    wait,
    { kind: "namespace", namespace: "team-c", words: {}, tier: "tin", gone: false },
    wait,
  ],
};

/** The requests to die with: all, or in a brief run every third, and others where the server acted. */
function deathsOf(requests: number, acted: boolean): readonly number[] {
  const all = Array.from({ length: requests }, (_, at) => at + 1);
  return isBrief ? all.filter((at) => at % 3 === (acted ? 2 : 1)) : all;
}

for (const acted of [false, true])
  test(`killed with each request, ${acted ? "after" : "before"} the API server acted, all ends right`, async (t) => {
    const undisturbed = await play(SCENARIO);
    assert.deepEqual(undisturbed.wrong, []);
    assert.ok(undisturbed.writes > 20, "the scenario is eventful");
    const failed: string[] = [];
    for (const at of deathsOf(undisturbed.requests, acted)) {
      const { wrong } = await play(SCENARIO, { at, acted });
      failed.push(...wrong.map((what) => `request ${at}: ${what}`));
    }
    t.diagnostic(`${undisturbed.requests} requests, ${undisturbed.writes} of them writes`);
    assert.deepEqual(failed, []);
  });

const space = (namespace: string, words: Texts): ChaosStep => {
  return { kind: "namespace", namespace, words, tier: "gold", gone: false };
};
// Two namespaces got copies while they accepted them, and keep them since. Their source is recreated, so
// that both are replaced, and a source of the same rank wants the same places.
const KEPT: Script = {
  chance: 1,
  replicas: 1,
  flags: { ...PLAIN_FLAGS, sourceNamespaces: "shared*", policy: "opt-in" },
  graceMs: 1000,
  deleteLimit: 100,
  steps: [
    space("team-a", { accept: "shared/*" }),
    space("team-b", { accept: "shared/*" }),
    source("one", { to: "team-*" }, "Opaque", true),
    wait,
    space("team-a", {}),
    space("team-b", {}),
    {
      kind: "source",
      namespace: "shared-2",
      name: "one",
      words: { to: "team-*" },
      type: "Opaque",
      immutable: false,
    },
    wait,
    source("one", { to: "team-*" }, "example.com/x", true),
    wait,
  ],
};

for (const acted of [false, true])
  test(`killed with each request, ${acted ? "after" : "before"} the API server acted, no kept copy is lost (A7)`, async (t) => {
    const undisturbed = await play(KEPT);
    assert.deepEqual(undisturbed.wrong, []);
    const failed: string[] = [];
    for (const at of deathsOf(undisturbed.requests, acted)) {
      const { wrong, secrets } = await play(KEPT, { at, acted });
      failed.push(...wrong.map((what) => `request ${at}: ${what}`));
      for (const place of ["team-a/one", "team-b/one"]) {
        const copy = secrets.get(place);
        if (copy?.metadata.annotations?.["secretcast.io/source"] !== "shared/one")
          failed.push(`request ${at}: ${place} is not the copy of its source`);
        else if (copy.type !== "example.com/x")
          failed.push(`request ${at}: ${place} is the old one`);
      }
    }
    t.diagnostic(`${undisturbed.requests} requests, ${undisturbed.writes} of them writes`);
    assert.deepEqual(failed, []);
  });
