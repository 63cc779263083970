import assert from "node:assert/strict";
import { test } from "node:test";
import { filterKeys, parseKeys } from "../../src/text/key-filter.ts";

const DATA = { "tls.crt": "Y3J0", "tls.key": "a2V5", "ca.crt": "Y2E=" };

function filtered(text: string): Readonly<Record<string, string>> | string {
  const filter = parseKeys(text);
  if (!filter.ok) return filter.fault.expected;
  const result = filterKeys(filter.value, DATA);
  return result.ok ? { ...result.value } : result.fault.expected;
}

const CASES: readonly (readonly [text: string, result: Readonly<Record<string, string>>])[] = [
  ["tls.*", { "tls.crt": "Y3J0", "tls.key": "a2V5" }],
  ["!ca.crt", { "tls.crt": "Y3J0", "tls.key": "a2V5" }],
  ["*,!tls.*", { "ca.crt": "Y2E=" }],
  ["cert=tls.crt", { cert: "Y3J0" }],
  ["*,cert=tls.crt", { cert: "Y3J0", "tls.key": "a2V5", "ca.crt": "Y2E=" }],
  ["cert=tls.crt,also=tls.crt", { cert: "Y3J0", also: "Y3J0" }],
  ["tls.crt=ca.crt,tls.key", { "tls.crt": "Y2E=", "tls.key": "a2V5" }],
  ["__proto__=ca.crt", { ["__proto__"]: "Y2E=" }],
];

for (const [text, result] of CASES) {
  test(`keys ${text} gives ${Object.keys(result).join(", ")}`, () => {
    assert.deepEqual(filtered(text), result);
  });
}

for (const [text, fault] of [
  ["new=absent", /old key that the source has/],
  ["tls.key=tls.crt,tls.*", /new key that no other entry fills/],
  ["a=tls.crt,a=ca.crt", /new key that no other entry fills/],
  ["absent-*", /at least one key/],
  ["!*", /at least one key/],
  ["!tls.crt,cert=tls.crt", /no "!" entry excludes/],
  ["a b", /glob over data keys/],
  ["=tls.crt", /NEW=OLD/],
  ["..=tls.crt", /NEW=OLD/],
  ["a=b=c", /NEW=OLD/],
  ["tls.crt,", /glob over data keys/],
] as const) {
  test(`keys ${text} is refused`, () => {
    assert.match(JSON.stringify(filtered(text)).replaceAll("\\", ""), fault);
  });
}

test("renames hold 64 KiB of names with their commas at most", () => {
  // 512 of 127 characters.
  const renames = Array.from({ length: 512 }, (_, at) => `${`n${at}`.padEnd(120, "n")}=old-01`);
  const text = renames.join(",");
  assert.equal(text.length + 1, 64 * 1024);
  assert.equal(parseKeys(text).ok, true);
  const longer = parseKeys(`n${text}`);
  assert.ok(!longer.ok);
  assert.match(longer.fault.expected, /64 KiB/);
});

test("without the annotation everything passes, nothing included", () => {
  const filter = parseKeys("*");
  assert.ok(filter.ok);
  assert.equal(filterKeys(filter.value, {}).ok, false);
  assert.equal(filterKeys({ ...filter.value, text: undefined }, {}).ok, true);
});
