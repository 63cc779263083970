import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  isPrintable,
  printable,
  printableLines,
  printableOutput,
} from "../../src/text/printable.ts";
import { shellWord } from "../../src/text/shell-word.ts";

// ESC, a line break, a direction override, a tag of the last planes, and the separators of lines.
const HOSTILE = "a\u001b[2J\r\nkubectl delete ns x\u202e\u{e0041}\u2028\u0085";

test("a text takes one line and controls no terminal", () => {
  const shown = printable(HOSTILE);

  assert.equal(
    shown,
    String.raw`a\u001b[2J\u000d\u000akubectl delete ns x\u202e\udb40\udc41\u2028\u0085`,
  );
  assert.ok(isPrintable(shown));
});

test("a text of many lines keeps its line ends alone", () => {
  assert.equal(printableLines("{\n\t\u202e}\n"), "{\n\\u0009\\u202e}\n");
});

test("an output keeps its lines, tabs and colours, and nothing else that controls a terminal", () => {
  const own = "\u001b[31mred\u001b[0m\t1\r\n\r\u001b[2Kline\n";
  assert.equal(printableOutput(own), own);
  // Text that is concealed, a title, and a line that is written over.
  assert.equal(
    printableOutput("\u001b[8mx\u001b]0;t\u0007\ry\u202e"),
    String.raw`\u001b[8mx\u001b]0;t\u0007\u000dy\u202e`,
  );
});

test("what people write in any language stays as it is", () => {
  const text = "Zoë, Ωμέγα, 秘密, 🔑 and a \\ of its own";

  assert.equal(printable(text), text);
});

const WORDS = [
  "team-a",
  "",
  "a b",
  "a'; touch x; echo 'b",
  "x; touch x; y",
  "$(touch x)`touch x`",
  "=ls",
  "a\\b'c",
  HOSTILE,
  "\u202e'; touch x; '\\'",
];

test("bash reads each quoted word as the text that it was", () => {
  for (const word of WORDS) {
    const quoted = shellWord(word);

    assert.ok(isPrintable(quoted), quoted);
    const command = `printf %s ${quoted} | base64 -w0`;
    const read = Buffer.from(execFileSync("bash", ["-c", command], { encoding: "utf8" }), "base64");
    assert.equal(read.toString(), word);
  }
});

test("a shell without such quotes still reads one word", () => {
  for (const word of WORDS) {
    const command = `set -- ${shellWord(word)}; echo $#`;

    assert.equal(execFileSync("sh", ["-c", command], { encoding: "utf8" }), "1\n");
  }
});
