// Reasons are read in Events, log lines, pages and terminals, and they quote what anybody wrote.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problemText } from "../../../src/controller/annotations/rules.ts";

const reason = (part: string) =>
  problemText({ annotation: "secretcast.io/to", part, expected: "x" });

test("a reason quotes a text whole and makes invisible characters visible", () => {
  const reported = [
    ["a\u001b[31mred", String.raw`a\u001b[31mred`],
    ["one\ntwo\r\tthree", String.raw`one\ntwo\r\tthree`],
    ["\u009b2Jgone", String.raw`\u009b2Jgone`],
    ["abc\u202etxet\u2066\u200f", String.raw`abc\u202etxet\u2066\u200f`],
    ["team\u200b-a\u00ad\ufeff", String.raw`team\u200b-a\u00ad\ufeff`],
    ["line\u2028para\u2029", String.raw`line\u2028para\u2029`],
    // Beyond the first 65,536: two escapes, as JSON has them.
    ["tag\u{e0041}", String.raw`tag\udb40\udc41`],
    ["é ü 名 😀", "é ü 名 😀"],
  ] as const;
  for (const [part, shown] of reported)
    assert.equal(
      reason(part),
      `invalid secretcast.io/to: "${shown}": expected x`,
      JSON.stringify(part),
    );
});

test("a reason's quote reads back as what was written", () => {
  for (const part of ['"', "\\u202e", "\u202e\u{e0041}\u0000\u007f", "a\ud800"]) {
    const [, quote = ""] =
      /^invalid secretcast\.io\/to: (.*): expected x$/.exec(reason(part)) ?? [];
    assert.equal(JSON.parse(quote), part);
  }
});
