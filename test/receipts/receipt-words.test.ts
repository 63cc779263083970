// docs/reference.md and the code name the same fields of receipts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { beginLine, endLine, receiptLine } from "../../src/receipts/receipt-line.ts";
import { because } from "../../src/controller/model/reasons.ts";
import { tableRows } from "../support/documents/markdown.ts";

const page = readFileSync(new URL("../../docs/reference.md", import.meta.url), "utf8");

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
