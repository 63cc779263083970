// What the cache keeps of one Secret, whatever its owner writes into it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";
import { prefixed, type Texts } from "../../support/planner/raw-cluster.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";

const LONG = "x".repeat(250_000);
const MANY = Array.from({ length: 1000 }, (_, at) => `key-${at}`);
/** Names, a UID, digests, the beginnings of what is wrong, and a `keys` of 4 KiB. */
const MOST_CHARACTERS = 6000;

const context = {
  kind: KINDS.Secret,
  digest: createDigest(Buffer.from("k")),
  intern: (text: string) => text,
  share: <T>(_: string, value: T) => value,
  isSourceNamespace: (namespace: string) => namespace === "shared",
  copyable: { copyableKeys: undefined, namedSources: undefined },
  keep: () => undefined,
};

/** All texts that hang on a value, with the names of its fields. */
function characters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, field]) => sum + key.length + characters(field),
    0,
  );
}

function kept(words: Texts, labels: Texts = {}, type = "Opaque"): number {
  const identity = { namespace: "team-a", name: "app", uid: "u", resourceVersion: "7" };
  const data = Object.fromEntries(MANY.map((key) => [key, "eA==".repeat(200)]));
  const metadata = { ...identity, labels, annotations: prefixed(words) };
  const secret = readObject({ metadata, type, data }, context);
  assert.ok(secret);
  return characters(secret);
}

const OURS = { "app.kubernetes.io/managed-by": "secretcast" };
const MARKS = { source: "shared/ca", "placed-at": "team-a/app", "source-uid": "u" };
const JUNK = Object.fromEntries(MANY.map((key) => [key, LONG.slice(0, 250)]));

for (const [what, words, labels, type] of [
  ["an unmanaged object with much data", {}, {}],
  ["an offer of adopt among blanks", { adopt: `${" ".repeat(250_000)}shared/ca` }, {}],
  ["an offer of adopt of a long type", { adopt: "shared/ca" }, {}, LONG],
  ["a pulling Secret with a long placed-at", { from: "no/body", "placed-at": MANY.join() }, {}],
  ["one with a long keys", { from: "no/body", keys: MANY.map((key) => `${key}=a`).join() }, {}],
  ["one with long marks", { from: "a/b", "source-uid": LONG, "source-version": LONG }, {}, LONG],
  ["one with a long from", { from: LONG }, {}],
  ["one with many words of ours", { from: "a/b", ...JUNK }, {}],
  ["a copy with much data", MARKS, OURS],
  ["a copy with a long record", { ...MARKS, "copied-keys": `label:${LONG}` }, OURS],
  ["a copy with other long marks", { ...MARKS, "on-delete": LONG, "source-version": LONG }, OURS],
  ["a copy of a long type", MARKS, OURS, LONG],
  ["a copy with a long source-uid", { ...MARKS, "source-uid": LONG }, OURS],
] as const) {
  test(`little text is kept of ${what}`, () => {
    const count = kept(words, labels, type);
    assert.ok(count < MOST_CHARACTERS, `${count} characters`);
  });
}

test("an object without name or namespace is none, and a type has 253 characters", () => {
  const read = (metadata: object, type = "Opaque"): string | undefined =>
    readObject({ metadata, type }, context)?.role;
  const identity = { uid: "u", resourceVersion: "7" };
  assert.equal(read({ ...identity, namespace: "team-a", name: "app" }), "unmanaged");
  assert.equal(read({ ...identity, name: "app" }), undefined);
  assert.equal(read({ ...identity, namespace: "team-a" }), undefined);
  const annotations = prefixed(MARKS);
  const copy = { ...identity, namespace: "team-a", name: "app", labels: OURS, annotations };
  for (const [length, kept] of [
    [253, "x".repeat(253)],
    [254, "254 characters"],
  ] as const) {
    const found = readObject({ metadata: copy, type: "x".repeat(length) }, context);
    assert.equal(found?.role === "copy" && found.template.type, kept);
  }
});

test("a copy of ours can have a source with a name of 253 characters", () => {
  const identity = { uid: "u", resourceVersion: "7", namespace: "team-a", name: "app" };
  for (const [length, role] of [
    [253, "copy"],
    [254, "unmanaged"],
  ] as const) {
    const source = `shared/${`${"n".repeat(49)}.`.repeat(5)}${"n".repeat(length - 250)}`;
    const metadata = { ...identity, labels: OURS, annotations: prefixed({ ...MARKS, source }) };
    assert.equal(readObject({ metadata, type: "Opaque" }, context)?.role, role);
  }
});
