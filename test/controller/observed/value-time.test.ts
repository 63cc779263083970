// The age of a value: what managedFields record, what they do not, and that a label never makes it younger.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dataManagers, valueTime } from "../../../src/controller/observed/value-time.ts";

const CREATED = "2026-01-01T00:00:00Z";
const [EARLY, LATE] = ["2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"];
const DATA = { "f:data": { ".": {}, "f:a": {} } };
const LABEL = { "f:metadata": { "f:labels": { "f:x": {} } } };

type Fields = Readonly<Record<string, unknown>>;
type More = Readonly<Record<string, unknown>>;

function row(manager: string, time: string, fieldsV1: Fields, more: More = {}): unknown {
  return {
    manager,
    operation: "Update",
    apiVersion: "v1",
    time,
    fieldsType: "FieldsV1",
    fieldsV1,
    ...more,
  };
}

function timeOf(managedFields: unknown, entries = 1): readonly (string | undefined)[] {
  const found = valueTime({ creationTimestamp: CREATED, managedFields }, entries);
  return [found.notBefore, found.notAfter, found.manager];
}

test("a value that was set at the creation is exactly as old as the object", () => {
  const whole = { ...DATA, ...LABEL, "f:type": {} };
  assert.deepEqual(timeOf([row("create", CREATED, whole)]), [CREATED, CREATED, "create"]);
});

test("an edit of a label by another manager does not make the value younger", () => {
  const rows = [row("create", CREATED, DATA), row("kubectl-label", LATE, LABEL)];
  assert.deepEqual(timeOf(rows), [CREATED, CREATED, "create"]);
});

test("a manager with other fields gives a range of times", () => {
  const rows = [row("operator", LATE, { ...DATA, ...LABEL })];
  assert.deepEqual(timeOf(rows), [CREATED, LATE, "operator"]);
});

test("a manager of data alone gives the time of its last change", () => {
  const rows = [
    row("create", CREATED, { "f:data": { "f:b": {} }, "f:type": {} }),
    row("kubectl-patch", EARLY, DATA),
  ];
  assert.deepEqual(timeOf(rows, 2), [EARLY, EARLY, "kubectl-patch"]);
});

test("the newest manager of data counts, and an older one limits the range", () => {
  const rows = [
    row("operator", LATE, { "f:data": { "f:b": {} }, ...LABEL }),
    row("kubectl-patch", EARLY, DATA),
  ];
  assert.deepEqual(timeOf(rows, 2), [EARLY, LATE, "operator"]);
});

test("each field of entries counts, also the write-only one of Secrets", () => {
  for (const field of ["f:data", "f:stringData", "f:binaryData"]) {
    const rows = [
      row("create", CREATED, { "f:type": {} }),
      row("x", EARLY, { [field]: { "f:a": {} } }),
    ];
    assert.deepEqual(timeOf(rows), [EARLY, EARLY, "x"], field);
  }
});

test("a manager of the map without entries says nothing of the value", () => {
  const rows = [
    row("create", LATE, { "f:data": { ".": {} } }),
    row("patch", EARLY, { "f:data": { "f:a": {} } }),
  ];
  assert.deepEqual(timeOf(rows), [EARLY, EARLY, "patch"]);
});

test("rows that the API server merged give a range", () => {
  for (const manager of ["before-first-apply", "ancient-changes"])
    assert.deepEqual(timeOf([row(manager, LATE, DATA)]), [CREATED, LATE, manager]);
});

test("without a manager for each entry, the end of the range is not known", () => {
  const unknown = [CREATED, undefined, undefined];
  assert.deepEqual(timeOf(undefined), unknown);
  assert.deepEqual(timeOf([]), unknown);
  assert.deepEqual(timeOf([row("label", LATE, LABEL)]), unknown);
  assert.deepEqual(timeOf([row("create", CREATED, { ...DATA, ...LABEL })], 2), unknown);
  assert.deepEqual(timeOf([row("create", "yesterday", DATA)]), unknown);
  assert.deepEqual(timeOf([row("create", LATE, DATA, { subresource: "status" })]), unknown);
});

test("more managers than are read hide no younger value", () => {
  const many = Array.from({ length: 101 }, (_, n) =>
    row(`m${n}`, EARLY, DATA, { operation: "Apply" }),
  );
  const [, notAfter] = timeOf([...many, row("kubectl-patch", LATE, DATA)]);
  assert.equal(notAfter, undefined);
});

test("whatever the fields are, nothing throws", () => {
  for (const fields of [
    null,
    7,
    "x",
    [null],
    [7],
    [{ fieldsV1: 7 }],
    [{ fieldsV1: { "f:data": null } }],
  ]) {
    assert.deepEqual(dataManagers(fields), []);
    assert.deepEqual(timeOf(fields), [CREATED, undefined, undefined]);
  }
  assert.deepEqual(valueTime({}, 1), { notBefore: "", notAfter: undefined, manager: undefined });
});

test("the number of rows that are read is bounded", () => {
  const rows = Array.from({ length: 5000 }, (_, n) => row(`m${n}`, EARLY, DATA));
  assert.equal(dataManagers(rows).length, 100);
});
