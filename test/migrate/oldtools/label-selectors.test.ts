// Label selectors of Kubernetes as secretcast's own text, which its own parser must take.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  namesIn,
  readLabelSelector,
  selectorText,
  unionOf,
  type LabelSelector,
} from "../../../src/migrate/oldtools/label-selectors.ts";

function read(raw: unknown): LabelSelector {
  const selector = readLabelSelector(raw);
  if (typeof selector === "string") throw new Error(selector);
  return selector;
}

const expression = (key: string, operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});

for (const [raw, text] of [
  [{}, ""],
  [{ matchLabels: { tier: "app", env: "prod" } }, "env=prod,tier=app"],
  [{ matchLabels: { "example.com/team": "" } }, "example.com/team="],
  [expression("env", "In", "qa", "dev", "dev"), "env in (dev,qa)"],
  [expression("env", "NotIn", "prod"), "env notin (prod)"],
  [expression("env", "Exists"), "env"],
  [expression("env", "DoesNotExist"), "!env"],
  [{ matchLabels: { a: "b" }, ...expression("env", "Exists") }, "a=b,env"],
] as const) {
  test(`${JSON.stringify(raw)} is ${JSON.stringify(text)}`, () => {
    assert.equal(selectorText(read(raw)), text);
  });
}

for (const [raw, why] of [
  [expression("env", "Matches", "x"), /the operator "Matches"/],
  [expression("env", "In"), /In has the wrong number of values/],
  [expression("env", "Exists", "x"), /Exists has the wrong number of values/],
  [{ matchLabels: { "not a key": "x" } }, /expected/],
  [{ matchLabels: { key: "not a value" } }, /expected/],
] as const) {
  test(`${JSON.stringify(raw)} cannot be read, and it is said why`, () => {
    const read = readLabelSelector(raw);
    assert.match(typeof read === "string" ? read : "", why);
  });
}

for (const [selectors, union] of [
  [[{ matchLabels: { env: "dev" } }, { matchLabels: { env: "prod" } }], "env in (dev,prod)"],
  [[{ matchLabels: { env: "dev" } }, { matchLabels: { env: "dev" } }], "env=dev"],
  [[expression("env", "Exists"), { matchLabels: { env: "dev" } }], "env"],
  [
    [
      { matchLabels: { env: "dev", tier: "app" } },
      { matchLabels: { env: "qa", tier: "app" } },
      { matchLabels: { env: "prod", tier: "app" } },
    ],
    "env in (dev,prod,qa),tier=app",
  ],
  [[{ matchLabels: { env: "dev" } }, { matchLabels: { tier: "app" } }], undefined],
  [[{ matchLabels: { env: "dev", tier: "app" } }, { matchLabels: { env: "qa" } }], undefined],
  [[{ matchLabels: { a: "1", b: "1" } }, { matchLabels: { a: "2", b: "2" } }], undefined],
  [[expression("env", "NotIn", "dev"), { matchLabels: { env: "qa" } }], undefined],
] as const) {
  test(`one selector for ${JSON.stringify(selectors)} is ${JSON.stringify(union)}`, () => {
    const found = unionOf(selectors.map(read));
    assert.equal(found && selectorText(found), union);
  });
}

test("a selector by the name of the namespace is a list of names", () => {
  const key = "kubernetes.io/metadata.name";
  assert.deepEqual(namesIn(read(expression(key, "In", "b", "a"))), ["a", "b"]);
  assert.equal(namesIn(read(expression(key, "NotIn", "a"))), undefined);
  assert.equal(namesIn(read({ matchLabels: { [key]: "a", env: "dev" } })), undefined);
  assert.equal(namesIn(read({})), undefined);
});
