// One receipt as a line: nothing that a user writes can end it or make another line of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedNames } from "../../src/controller/observed/read-context.ts";
import { because } from "../../src/controller/model/reasons.ts";
import {
  beginLine,
  endLine,
  receiptLine,
  type Holding,
  type Receipt,
} from "../../src/receipts/receipt-line.ts";

const AT = { time: "2026-01-02T03:04:05.678Z", run: "pod_1", seq: 7 };
const HOLDING: Holding = {
  uid: "u2",
  version: "12",
  deleting: false,
  pulling: false,
  source: { namespace: "shared", name: "db" },
  sourceUid: "s1",
  sourceVersion: "9",
  entry: undefined,
  keyNames: "password,username",
};

function receipt(change: Partial<Receipt> = {}): Receipt {
  return {
    word: "update",
    kind: "Secret",
    place: { namespace: "team-a", name: "db" },
    holding: HOLDING,
    before: { ...HOLDING, version: "11", sourceVersion: "8" },
    versions: { before: { uid: "u2", version: "11" }, after: { uid: "u2", version: "12" } },
    why: {
      kind: "write",
      reason: because("SourceChanged"),
      trigger: { code: "Source", version: "9", manager: "kubectl-edit" },
    },
    ...change,
  };
}

test("a receipt names source, place, versions before and after, keys, code, cause and trigger", () => {
  assert.deepEqual(JSON.parse(receiptLine(AT, receipt())), {
    time: AT.time,
    receipt: "update",
    run: "pod_1",
    seq: 7,
    kind: "Secret",
    place: "team-a/db",
    holds: true,
    source: "shared/db",
    sourceUid: "s1",
    sourceVersion: "9",
    before: { uid: "u2", version: "11" },
    after: { uid: "u2", version: "12" },
    keys: ["password", "username"],
    code: "SourceChanged",
    cause: "the source changed (version 9, field manager kubectl-edit)",
    by: { trigger: "Source", version: "9", manager: "kubectl-edit" },
  });
});

test("a takeover names the source that had the copy before", () => {
  const before = { ...HOLDING, source: { namespace: "other", name: "db" }, sourceUid: "s0" };
  const line = receiptLine(AT, receipt({ word: "takeover", before }));
  const { before: said } = JSON.parse(line) as { readonly before: unknown };
  assert.deepEqual(said, { uid: "u2", version: "11", source: "other/db", sourceUid: "s0" });
});

test("the receipt of a deletion has the source of the deleted copy", () => {
  const versions = { before: { uid: "u2", version: "11" }, after: undefined };
  const line = receiptLine(AT, receipt({ word: "delete", holding: undefined, versions }));
  const said = JSON.parse(line) as Readonly<Record<string, unknown>>;
  assert.deepEqual([said["holds"], said["source"], said["after"]], [false, "shared/db", undefined]);
});

test("a line is ASCII with one line break, whatever a tenant forges", () => {
  const evil = 'x"}\n{"receipt":"delete"\u0085\u2028\u2029\r\u0000\u007f\ud800é';
  const forged = { ...HOLDING, sourceUid: evil, entry: evil };
  const why = { kind: "finding", code: "ChangedByOthers", manager: evil } as const;
  const line = receiptLine(AT, receipt({ word: "found", holding: forged, why }));
  assert.match(line, /^[\u0020-\u007e]+\n$/);
  const said = JSON.parse(line) as { readonly entry: string; readonly by: { manager: string } };
  assert.equal(said.entry, evil);
  assert.equal(said.by.manager, evil);
});

test("names of entries are limited, and the number of the others is said", () => {
  const names = Array.from({ length: 1000 }, (_, n) => `key-${n}.${"x".repeat(240)}`);
  const keyNames = boundedNames(names);
  assert.ok(keyNames.length < 1100, String(keyNames.length));
  const line = receiptLine(AT, receipt({ holding: { ...HOLDING, keyNames } }));
  const said = JSON.parse(line) as { readonly keys: readonly string[]; readonly moreKeys: number };
  assert.deepEqual(said.keys, names.slice(0, said.keys.length));
  assert.equal(said.keys.length + said.moreKeys, 1000);
  assert.equal(boundedNames([]), "");
  assert.equal(boundedNames(["a", "b"]), "a,b");
});

test("the frame of a statement has the Lease's term and the number of copies", () => {
  assert.deepEqual(JSON.parse(beginLine(AT, "LinesLost", 3)), {
    ...AT,
    receipt: "begin",
    term: 3,
    code: "LinesLost",
    cause: "lines were lost before",
  });
  assert.deepEqual(JSON.parse(endLine(AT, 40)), { ...AT, receipt: "end", count: 40 });
});
