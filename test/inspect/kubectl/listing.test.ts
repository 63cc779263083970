import { test } from "node:test";
import assert from "node:assert/strict";
import { load } from "js-yaml";
import { printListing, yamlText } from "../../../src/inspect/kubectl/listing.ts";
import { isPrintable } from "../../../src/text/printable.ts";

// ESC, line breaks, a direction override, a tag of the last planes, C1, and a word that the writer itself uses.
const HOSTILE =
  "a\u001b[2J\r\nkubectl delete ns x\u202e\u{e0041}\u2028\u0085 escaped0x escaped- \\ '\" #:";
const ITEMS = [{ [HOSTILE]: HOSTILE, list: [HOSTILE, "a\nb\n", 1, null, true], plain: "a" }];

function printed(output: "json" | "yaml" | "name" | "table"): string {
  const lines: string[] = [];
  printListing(
    {
      kind: "TestList",
      items: ITEMS,
      columns: [{ header: "A", cell: () => HOSTILE }],
      nameOf: () => HOSTILE,
    },
    { headers: true, output },
    { env: {}, stdout: { write: (text: string) => lines.push(text) } },
  );
  return lines.join("");
}

for (const output of ["json", "yaml", "name", "table"] as const) {
  test(`-o ${output} prints no text of others raw`, () => {
    const text = printed(output);

    for (const line of text.split("\n")) assert.ok(isPrintable(line), JSON.stringify(line));
    assert.doesNotMatch(text, /^\s*kubectl delete/m);
  });
}

test("JSON and YAML still hold each text as it is", () => {
  for (const text of [printed("json"), printed("yaml")])
    assert.deepEqual(load(text), {
      apiVersion: "cli.secretcast.io/v1alpha1",
      kind: "TestList",
      items: ITEMS,
    });
});

test("printable texts of many lines are written as before", () => {
  assert.equal(yamlText({ a: "b\nc\n", d: "x" }), "a: |\n  b\n  c\nd: x\n");
});
