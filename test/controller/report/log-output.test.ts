// Where log lines are written when nobody takes them.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { createLog, LogOutput } from "../../../src/controller/report/log.ts";

const HOSTILE = "a\u202e\u2028\u0085\u001b[2J\nb";

for (const logFormat of ["json", "pretty"] as const) {
  test(`a line of the ${logFormat} log holds no raw text that steers a terminal`, () => {
    const lines: string[] = [];
    const sink = { write: (line: string) => lines.push(stripVTControlCharacters(line)) };
    createLog({ logLevel: "info", logFormat }, sink).info({ by: HOSTILE }, "repaired");
    assert.equal(lines.length, 1);
    assert.match(lines.join(""), /^[ -~]*\n$/);
  });
}

test("what a reader leaves unread has a bound, and the lines beyond it are counted", () => {
  const taken: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (_chunk, _encoding, done) => void taken.push(done),
  });
  const output = new LogOutput(stream);
  const line = `${"x".repeat(999)}\n`;
  for (let count = 0; count < 5000; count++) output.write(line);
  assert.ok(stream.writableLength < 1_100_000, String(stream.writableLength));
  assert.ok(output.lost > 3800 && output.lost < 4000, String(output.lost));
  const before = output.lost;
  for (let done = taken.shift(); done; done = taken.shift()) done();
  assert.equal(stream.writableLength, 0);
  output.write(line);
  assert.equal(output.lost, before, "a reader that is back has the next line");
});

test("a stream that fails, and fails again, ends nothing: each of its lines is counted", async () => {
  const stream = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(new Error("ENOSPC")),
  });
  const output = new LogOutput(stream);
  for (let count = 0; count < 3; count++) output.write("line\n");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(output.lost, 3);
});
