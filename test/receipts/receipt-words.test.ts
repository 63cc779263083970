// docs/reference.md and the code name the same words of receipts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  beginLine,
  endLine,
  FINDINGS,
  receiptLine,
  RECEIPTS,
} from "../../src/receipts/receipt-line.ts";
import { TRIGGERS } from "../../src/receipts/triggers.ts";
import { because } from "../../src/controller/model/reasons.ts";
import { tableRows } from "../support/documents/markdown.ts";

const page = readFileSync(new URL("../../docs/reference.md", import.meta.url), "utf8");

for (const [header, words] of [
  ["`receipt`", RECEIPTS],
  ["`code`", FINDINGS],
  ["`trigger`", TRIGGERS],
] as const)
  test(`the words of ${header} have a row each in the reference, with their meaning`, () => {
    const rows = tableRows(page, [header, "meaning"]);
    const wanted = Object.entries(words).map(([word, meaning]) => [`\`${word}\``, meaning]);
    assert.deepEqual(rows, wanted);
  });

test("the fields of a line are the rows of the reference", () => {
  const at = { time: "", run: "", seq: 1 };
  const version = { uid: "u", version: "1" };
  const holding = {
    ...version,
    deleting: true,
    pulling: true,
    source: { namespace: "shared", name: "db" },
    sourceUid: "s",
    sourceVersion: "1",
    entry: "db",
    keyNames: "a,+2",
  };
  const lost = {
    kind: "lost answer",
    reason: because("NoCopyYet"),
    trigger: { code: "Start" },
  } as const;
  const place = { namespace: "team-a", name: "db" };
  const versions = { before: version, after: version };
  const lines = [
    beginLine(at, "Started", 1),
    receiptLine(at, {
      word: "fill",
      kind: "Secret",
      place,
      holding,
      before: holding,
      versions,
      why: lost,
    }),
    endLine(at, 1),
  ];
  const fields = lines.flatMap((line) => Object.keys(JSON.parse(line) as object));
  const rows = tableRows(page, ["field", "meaning"]);
  const named = rows.flatMap(([cell = ""]) =>
    Array.from(cell.matchAll(/`(\w+)`/g), ([, field = ""]) => field),
  );
  assert.deepEqual(named.toSorted(), [...new Set(fields)].toSorted());
});
