// Progress on stderr: nothing of quick work, then count, rate and time left.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Progress } from "../../../src/inspect/kubectl/progress.ts";

function watched(terminal: boolean) {
  let said = "";
  let now = 0;
  const stderr = { write: (text: string) => Boolean((said += text)), isTTY: terminal };
  const progress = new Progress("Secrets read", { stderr }, { monotonic: () => now });
  return { progress, said: () => said, at: (ms: number) => (now = ms) };
}

test("work of less than two seconds says nothing", () => {
  const { progress, said, at } = watched(true);
  at(1999);
  progress.advance(500);
  progress.end();
  assert.equal(said(), "");
});

test("a terminal has one line of progress from two seconds on", () => {
  const { progress, said, at } = watched(true);
  progress.expect(10_000);
  at(2000);
  progress.advance(1000);
  assert.equal(said(), "\r\u001b[2KSecrets read: 1000 of 10000, 500 a second, 18s left");
  at(2100);
  progress.advance(1000);
  progress.end();
  assert.ok(said().endsWith("\r\u001b[2K"));
});

test("a pipe has a line of progress at times, without time left for unknown totals", () => {
  const { progress, said, at } = watched(false);
  for (const ms of [2000, 3000, 11_000, 12_000]) {
    at(ms);
    progress.advance(1000);
  }
  progress.end();
  assert.equal(said(), "Secrets read: 1000, 500 a second\nSecrets read: 4000, 333 a second\n");
});
