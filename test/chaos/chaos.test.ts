// A few scripts of chaos in every run of the tests; `npm run chaos` plays as many as there is time for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chaos } from "./chaos.ts";

test("users, tenants, faults and restarts at random, and all is as the contract has it", async () => {
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? "1");
  assert.ok(await chaos({ minutes: 1, seed, runs: 10, print }), said.join("\n"));
});
