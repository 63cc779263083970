// A few scripts of chaos in every run of the tests; `npm run chaos` plays as many as there is time for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chaos, IN_MEMORY, replay } from "./chaos.ts";
import { NEWEST_DRAW } from "./scripts/draw.ts";
import type { Script } from "./scripts/script.ts";
import { isBrief } from "../../packages/kube/testing/extent.ts";

const isAgainst = (kind: string) => async (script: Script) => {
  const found = script.steps.some((step) => step.kind === kind);
  return { wrong: found ? [`there is a ${kind}`] : [], writes: 0 };
};

test("users, tenants, faults and restarts at random, and all is as the contract has it", async () => {
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? "1");
  const options = { minutes: 1, seed, draw: NEWEST_DRAW, runs: isBrief ? 4 : 10, print };
  assert.ok(await chaos(options), said.join("\n"));
});

test("a failure prints its seed, the command that repeats it, and a short script", async () => {
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  const options = { minutes: 1, seed: 1, draw: 1, runs: 20, print };
  assert.equal(await chaos(options, { ...IN_MEMORY, play: isAgainst("roll out") }), false);
  assert.equal(said[0], "--seed 1 --draw 1");
  assert.match(said[1] ?? "", /^FAILED, .*: npm run chaos -- --seed \d+ --draw 1 --runs 1$/);
  assert.equal(said[2], "  there is a roll out");
  assert.match(said[3] ?? "", /^shrunk to 1 steps: \{.*"steps":\[\{"kind":"roll out",/);
  assert.match(said[4] ?? "", /failed-seeds\.ts.*found\.test\.ts/);
});

test("a failing script without time to shorten it is reported as it is", async () => {
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  let plays = 0;
  const play = (script: Script) => {
    plays++;
    return isAgainst("roll out")(script);
  };
  const failed = [{ seed: 8, draw: 1 }];
  assert.equal(await replay(failed, print, { ...IN_MEMORY, play, shrinksMostMs: 0 }), false);
  assert.equal(plays, 1);
  assert.match(
    said[0] ?? "",
    /^FAILED, and again by: npm run chaos -- --seed 8 --draw 1 --runs 1$/,
  );
});

test("of seeds that failed once each is played, by its own draw", async () => {
  const said: string[] = [];
  const play = async () => ({ wrong: [], writes: 0 });
  const failed = [1, 2].map((seed) => ({ seed, draw: 1 }));
  assert.ok(await replay(failed, (line) => said.push(line), { ...IN_MEMORY, play }));
  assert.deepEqual(said, ["2 seeds that failed once, nothing wrong"]);
});
