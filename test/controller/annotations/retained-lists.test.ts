// What a list or a selector of a user's text takes of the memory for as long as it is kept: its text,
// and little more. A tenant may write thousands of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseAccept, parseSource } from "../../../src/controller/annotations/parse.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const ENOUGH_CHARACTERS = 1_500_000;

// Buffers are given back in the background, some time after a collection.
async function usedBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

type Read = (text: string) => unknown;

/** Bytes that are kept of each character: measured up to four times, as what else goes on only adds. */
async function perCharacter(text: string, read: Read, most: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4 && least >= most; round++)
    least = Math.min(least, await measure(text, read));
  return least;
}

async function measure(text: string, read: Read): Promise<number> {
  const count = Math.ceil(ENOUGH_CHARACTERS / text.length);
  const kept: unknown[] = [read(text)];
  const before = await usedBytes();
  // Each of its own text, as the API server's answers bring it.
  for (let at = 0; at < count; at++) kept.push(read(Buffer.from(text).toString()));
  const bytes = (await usedBytes()) - before;
  assert.equal(kept.length, count + 1);
  return bytes / (count * text.length);
}

function pushes(word: "to" | "to-selector"): (text: string) => unknown {
  return (text) => {
    const { rule, problems } = parseSource({ [`secretcast.io/${word}`]: text }, "ca");
    assert.deepEqual(problems, []);
    return rule;
  };
}

function accepts(text: string): unknown {
  const accept = parseAccept({ "secretcast.io/accept": text });
  assert.equal(accept.kind, "sources");
  return accept;
}

const words = (count: number, form: (word: string) => string): string =>
  Array.from({ length: count }, (_, at) => form((1296 + at).toString(36))).join();

const shortNames = words(16_000, (word) => word);
for (const [what, most, text, read] of [
  ["64 KiB of short names", 2.2, shortNames, pushes("to")],
  ["64 KiB of names", 2, words(5000, (word) => `team-${word}-dev`), pushes("to")],
  ["64 KiB of excluded names", 2.2, words(13_000, (word) => `!${word}`), pushes("to")],
  ["64 KiB of one name", 2.2, words(32_000, () => "a"), pushes("to")],
  ["64 KiB of accepted names", 2, words(5000, (word) => `a/team-${word}`), accepts],
  ["a hundred globs", 8, words(100, (word) => `${word}-name*`), pushes("to")],
  ["64 KiB of values", 2.2, `a in (${shortNames})`, pushes("to-selector")],
  ["a hundred requirements", 16, words(100, (word) => `${word} in (b,c)`), pushes("to-selector")],
] as const) {
  test(`at most ${most} bytes a character are kept of ${what}`, async () => {
    const bytes = await perCharacter(text, read, most);
    assert.ok(bytes < most, `${bytes.toFixed(2)} bytes a character`);
  });
}
