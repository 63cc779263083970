// The source list as a whole: what stands in one, and what keeps it from being read at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readList } from "../../../src/controller/observed/read-list.ts";

const IDENTITY = {
  namespace: "secretcast",
  name: "secretcast-sources",
  uid: "u",
  resourceVersion: "7",
};

function read(fields: object, metadata: object = {}) {
  return readList({ metadata: { ...IDENTITY, ...metadata }, ...fields });
}

test("its entries are the texts under data, and it may be empty", () => {
  assert.deepEqual(read({ data: { tls: "secret: a/b" } })?.entries?.["tls"], "secret: a/b");
  assert.deepEqual(Object.keys(read({})?.entries ?? { some: "" }), []);
  const { uid, resourceVersion } = read({}) ?? assert.fail();
  assert.deepEqual([uid, resourceVersion], ["u", "7"]);
});

test("what has no name is no list", () => {
  for (const raw of [undefined, null, "text", {}, { metadata: { name: "x" } }])
    assert.equal(readList(raw), undefined);
});

const numbered = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`e${at}`, "secret: a/b"]));
const UNREAD: readonly (readonly [
  what: string,
  fields: object,
  metadata: object,
  reason: RegExp,
])[] = [
  ["1,001 entries", { data: numbered(1001) }, {}, /more than 1000 entries/],
  ["binaryData", { binaryData: { tls: "YQ==" } }, {}, /tls is under binaryData/],
  [
    "the label of copies",
    {},
    { labels: { "app.kubernetes.io/managed-by": "secretcast" } },
    /app.kubernetes.io\/managed-by: secretcast, as a copy: take it off/,
  ],
  ...["source", "source-uid", "placed-at", "source-version", "copied-keys", "entry"].map(
    (mark) =>
      [
        `the mark ${mark}`,
        {},
        { annotations: { [`secretcast.io/${mark}`]: "x" } },
        new RegExp(`it carries secretcast.io/${mark}, as no list does: take it off`),
      ] as const,
  ),
  ["from", {}, { annotations: { "secretcast.io/from": "a/b" } }, /it carries secretcast.io\/from/],
  [
    "adopt",
    {},
    { annotations: { "secretcast.io/adopt": "a/b" } },
    /it carries secretcast.io\/adopt/,
  ],
];

for (const [what, fields, metadata, reason] of UNREAD)
  test(`a list is not read that has ${what}, and says why`, () => {
    const list = read({ data: { tls: "secret: a/b" }, ...fields }, metadata);
    assert.equal(list?.entries, undefined);
    assert.match(list?.reason ?? "", reason);
  });

test("1,000 entries are read, and labels of others are nobody's marks", () => {
  const labels = { "app.kubernetes.io/managed-by": "Helm" };
  assert.equal(Object.keys(read({ data: numbered(1000) }, { labels })?.entries ?? {}).length, 1000);
});
