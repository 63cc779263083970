// CSV by RFC 4180, in which no cell is a formula.
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvLine } from "../../../src/inspect/kubectl/csv.ts";

test("a line ends with CRLF, and a cell is quoted where it needs to be", () => {
  assert.equal(csvLine(["a", "b c", ""]), "a,b c,\r\n");
  assert.equal(csvLine(["a,b", 'say "x"', " a "]), '"a,b","say ""x"""," a "\r\n');
});

test("a cell that a spreadsheet would take for a formula begins with an apostrophe", () => {
  for (const sign of ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
    assert.equal(csvLine([`${sign}1+1`]), `'${sign}1+1\r\n`, sign);
  assert.equal(csvLine(['=HYPERLINK("x")']), '"\'=HYPERLINK(""x"")"\r\n');
  assert.equal(csvLine([" =1"]), "' =1\r\n");
  assert.equal(csvLine(["a=1", "2026-01-01"]), "a=1,2026-01-01\r\n");
});

test("a control character is one sign, so it begins no formula and no line", () => {
  assert.equal(csvLine(["\t=1", "a\r\n=1"]), "\\u0009=1,a\\u000d\\u000a=1\r\n");
});
