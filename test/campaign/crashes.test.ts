// An eventful scenario, and the process killed with each of its requests in turn: before the API server
// acted, and after it acted and nobody heard the answer. Each time the process that comes anew ends with
// the world as it must be, every write on the way being right, and nothing is left to write.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deleted, pass, pull, say, source, space, stranger } from "./scripts/by-hand.ts";
import { PLAIN_FLAGS, PLAIN_SCRIPT, type Script } from "./scripts/script.ts";
import { play } from "./stages/stage.ts";
import type { Raw } from "./model/raw.ts";
import { isBrief } from "../support/time/extent.ts";

const wait = pass(2000);
/** Of the same rank, and it wants the same places. */
const younger = source("shared-2/one", { to: "team-*" });
const PLAIN = { ...PLAIN_SCRIPT, chance: 1, graceMs: 1000 };

const SCENARIO: Script = {
  ...PLAIN,
  steps: [
    stranger("team-b/two", { adopt: "shared/two" }),
    stranger("team-c/one"),
    source("shared/one", { to: "*", allow: "*", "copy-labels": "*" }),
    source("shared/two", { to: "team-*", "on-delete": "keep" }, { immutable: true }),
    wait,
    pull("team-a/pull-1", { from: "shared/one" }),
    { kind: "rotate", namespace: "shared", name: "one" },
    wait,
    // Made again with another type: every copy is replaced.
    source(
      "shared/one",
      { to: "*", allow: "*", keys: "*,pass=password" },
      { type: "example.com/x" },
    ),
    { kind: "edit", namespace: "team-a", name: "two" },
    wait,
    space("team-b", { accept: "false" }),
    say("shared/one", "allow", null),
    wait,
    // The older wins; then the younger takes over what the older leaves.
    younger,
    deleted("shared/two"),
    wait,
    deleted("shared/one"),
    space("team-c", {}, { gone: true }),
    wait,
    space("team-c", {}),
    wait,
  ],
};

// Two namespaces got copies while they accepted them, and keep them since. Their source is recreated with
// another type: both copies stay, until one namespace accepts the source again and its copy is replaced.
const KEPT: Script = {
  ...PLAIN,
  flags: { ...PLAIN_FLAGS, sourceNamespaces: "shared*", policy: "opt-in" },
  steps: [
    space("team-a", { accept: "shared/*" }),
    space("team-b", { accept: "shared/*" }),
    source("shared/one", { to: "team-*" }, { immutable: true }),
    wait,
    space("team-a", {}),
    space("team-b", {}),
    younger,
    wait,
    source("shared/one", { to: "team-*" }, { type: "example.com/x", immutable: true }),
    wait,
    space("team-a", { accept: "shared/*" }),
    wait,
  ],
};

/** Which of the copies that are kept is lost, or is not the one that it must be. */
const lost = (secrets: ReadonlyMap<string, Raw>): readonly string[] =>
  [
    { place: "team-a/one", type: "example.com/x" },
    { place: "team-b/one", type: "Opaque" },
  ].flatMap(({ place, type }) => {
    const copy = secrets.get(place);
    if (copy?.metadata.annotations?.["secretcast.io/source"] !== "shared/one")
      return [`${place} is not the copy of its source`];
    return copy.type === type ? [] : [`${place} has the type ${copy.type ?? "Opaque"}`];
  });

/** The requests to die with: all, or in a brief run every sixth, and others where the server acted. */
function deathsOf(requests: number, acted: boolean): readonly number[] {
  const all = Array.from({ length: requests }, (_, at) => at + 1);
  return isBrief ? all.filter((at) => at % 6 === (acted ? 2 : 5)) : all;
}

const SCENARIOS = [
  { script: SCENARIO, says: "all ends right", leastWrites: 20, wrongIn: () => [] },
  { script: KEPT, says: "no kept copy is lost (A7)", leastWrites: 3, wrongIn: lost },
];

for (const { script, says, leastWrites, wrongIn } of SCENARIOS)
  for (const acted of [false, true])
    test(`killed with each request, ${acted ? "after" : "before"} the API server acted, ${says}`, async (t) => {
      const undisturbed = await play(script);
      assert.deepEqual([...undisturbed.wrong, ...wrongIn(undisturbed.secrets)], []);
      assert.ok(undisturbed.writes > leastWrites, "the scenario is eventful");
      const failed: string[] = [];
      for (const at of deathsOf(undisturbed.requests, acted)) {
        const { wrong, secrets } = await play(script, { at, acted });
        failed.push(...[...wrong, ...wrongIn(secrets)].map((what) => `request ${at}: ${what}`));
      }
      t.diagnostic(`${undisturbed.requests} requests, ${undisturbed.writes} of them writes`);
      assert.deepEqual(failed, []);
    });
