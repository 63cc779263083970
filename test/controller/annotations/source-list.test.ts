// The source list: what an entry may say, what refuses it alone, and what the worst of them costs.
import assert from "node:assert/strict";
import { finishAtOnce } from "../../../packages/kube/time/turns.ts";
import { test } from "node:test";
import {
  NO_ENTRIES,
  parseSourceList,
  type SourceList,
} from "../../../src/controller/annotations/source-list.ts";
import { problemText } from "../../../src/controller/annotations/rules.ts";
import { KINDS, OBJECT_KINDS } from "../../../src/controller/model/kinds.ts";
import { namedObject } from "../../../src/inspect/cluster/named-object.ts";
import { reference } from "../../support/planner/intake.ts";
import { processorMs, processorMsOf } from "../../support/time/processor.ts";

const TERMS = {
  list: { namespace: "secretcast", name: "secretcast-sources" },
  kinds: OBJECT_KINDS,
  reserved: KINDS.ConfigMap.reserved,
};

function parse(
  data: Readonly<Record<string, string>>,
  terms = TERMS,
  before = NO_ENTRIES,
): SourceList {
  return finishAtOnce(parseSourceList(data, terms, before));
}

/** Why the entry `tls` is refused; "" where it is not. */
function refusal(text: string, terms = TERMS): string {
  const entry = parse({ tls: text }, terms).get("tls");
  assert.ok(entry);
  return entry.problems.map(problemText).join("; ");
}

test("an entry and a command line can name an object of each kind", () => {
  for (const kind of OBJECT_KINDS) {
    const field = `${kind.charAt(0).toLowerCase()}${kind.slice(1)}`;
    const entry = parse({ one: `${field}: shared/one\nto: "*"` }).get("one");
    assert.deepEqual([entry?.object?.kind, entry?.problems], [kind, []]);
    for (const word of [kind.toLowerCase(), KINDS[kind].resource.plural])
      assert.deepEqual(namedObject(`${word}/one`), { kind, name: "one" });
  }
});

test("an entry says of an object what annotations would, and YAML lists are lists", () => {
  const list = parse({
    tls: 'secret: cert-manager/wildcard # made by cert-manager\nto: "*"\nkeys: tls.crt,tls.key\npaused: true\n',
    ca: "configMap: trust/ca\nto: [team-*, '!team-legacy']\nto-selector:\n  - env in (a, b)\n  - tier\nname: company-ca\non-delete: keep",
    pulled: "secret: vault/token\nallow: >-\n  ci-*,\n  cd",
  });
  assert.equal(list.size, 3);
  const tls = list.of("Secret", { namespace: "cert-manager", name: "wildcard" });
  assert.deepEqual(
    [tls?.key, tls?.problems, tls?.source.keys.text, tls?.source.rule.paused],
    ["tls", [], "tls.crt,tls.key", true],
  );
  assert.equal(tls?.source.rule.to?.globs?.text, "*");
  assert.equal(tls?.source.rule.copyName, "wildcard");
  assert.equal(list.of("ConfigMap", { namespace: "cert-manager", name: "wildcard" }), undefined);
  const { rule } = list.get("ca")?.source ?? assert.fail();
  assert.deepEqual(
    [rule.to?.globs?.text, rule.to?.selector?.text, rule.copyName, rule.onDelete],
    ["team-*,!team-legacy", "env in (a, b),tier", "company-ca", "keep"],
  );
  assert.equal(list.get("pulled")?.source.rule.allow?.globs?.text, "ci-*, cd");
});

const REFUSED: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
  ["no YAML mapping: nothing", "", /^invalid entry tls: "": expected a YAML mapping/],
  ["no YAML mapping: a text", "hello", /expected a YAML mapping/],
  ["no YAML mapping: a list", "- secret: a/b", /expected a YAML mapping/],
  ["no YAML mapping: two documents", "---\nto: x\n---\nto: y", /expected a YAML mapping/],
  ["no YAML at all", "secret: a/b\n\tto: x", /"line 2": expected YAML \(tab characters/],
  ["a star that is not quoted", "secret: a/b\nto: *", /"line 2": .*is quoted$/],
  ["an exclusion that is not quoted", "secret: a/b\nto: !x", /no anchors, aliases or tags/],
  ["an anchor", "secret: a/b\nto: &x y", /no anchors, aliases or tags/],
  ["an alias", "secret: &x a/b\nto: *x", /no anchors, aliases or tags/],
  ["a tag", "secret: a/b\nto: !!str y", /no anchors, aliases or tags/],
  [
    "a word twice",
    "secret: a/b\nto: x\nto: y",
    /"line 3": expected YAML \(duplicated mapping key\)/,
  ],
  [
    "an unknown word",
    "secret: a/b\nto: x\nto-selecter: y",
    /"to-selecter": expected one of secret,/,
  ],
  ["a word with its prefix", "secret: a/b\nsecretcast.io/to: x", /expected one of secret,/],
  ["a mark of ours", "secret: a/b\nto: x\nsource-uid: y", /"source-uid": expected one of/],
  ["adopt", "secret: a/b\nto: x\nadopt: a/c", /"adopt": expected one of/],
  ["from", "secret: a/b\nto: x\nfrom: a/c", /"from": expected one of/],
  ["a word of other languages", "secret: a/b\nto: x\n__proto__: y", /"__proto__": expected one of/],
  ["a list as a word", "secret: a/b\nto: x\n? [a]\n: b", /expected one of secret,/],
  ["no object", "to: x", /^invalid entry tls: "": expected one of secret, configMap$/],
  [
    "two objects",
    "secret: a/b\nconfigMap: a/b\nto: x",
    /"a\/b a\/b": expected one of secret, configMap/,
  ],
  ["a Secret without its namespace", "secret: b\nto: x", /: secret: "b": expected NAMESPACE\/NAME/],
  [
    "a ConfigMap without its namespace",
    "configMap: b\nto: x",
    /: configMap: "b": expected NAMESPACE/,
  ],
  [
    "the list itself",
    "configMap: secretcast/secretcast-sources\nto: x",
    /one called so tells secretcast/,
  ],
  ["one of the list's name", "configMap: a/secretcast-sources\nto: x", /one called so tells/],
  ["one of a policy's", "configMap: a/secretcast-pull-secrets\nto: x", /one called so tells/],
  ["a release of Helm", "secret: a/sh.helm.release.v1.b\nto: x", /: secret: .*Helm/],
  ["nothing that it asks for", "secret: a/b\nkeys: x", /expected one of to, to-selector, allow,/],
  ["an empty value", "secret: a/b\nto:", /: to: "": expected a value, or no such field/],
  ["an empty text", 'secret: a/b\nto: ""', /: to: "": expected a value, or no such field/],
  ["an empty list", "secret: a/b\nto: []", /: to: "": expected a value/],
  ["a list with nothing in it", "secret: a/b\nto: [a, '']", /: to: /],
  ["a mapping as a value", "secret: a/b\nto: {a: b}", /: to: "": expected a text, or a list/],
  ["a list of lists", "secret: a/b\nto: [[a]]", /: to: "": expected a text, or a list/],
  ["to that is no glob", "secret: a/b\nto: Team", /: to: "Team": expected/],
  ["to-selector that is none", "secret: a/b\nto-selector: a in", /: to-selector: /],
  ["allow that is no glob", "secret: a/b\nallow: a/b", /: allow: "a\/b": expected/],
  ["allow-selector that is none", "secret: a/b\nallow-selector: '='", /: allow-selector: /],
  ["name that is no name", "secret: a/b\nto: x\nname: A", /: name: "A": expected a name/],
  [
    "name that is a list",
    "secret: a/b\nto: x\nname: [a]",
    /: name: "": expected one text, no list/,
  ],
  ["keys that are none", "secret: a/b\nto: x\nkeys: a/b", /: keys: "a\/b": expected/],
  ["copy-labels that are none", "secret: a/b\nto: x\ncopy-labels: a b", /: copy-labels: /],
  ["copy-annotations that are none", "secret: a/b\nto: x\ncopy-annotations: a b", /: copy-annot/],
  [
    "on-delete that is neither",
    "secret: a/b\nto: x\non-delete: no",
    /: on-delete: "no": expected "del/,
  ],
  [
    "match that is neither",
    "secret: a/b\nto: x\nmatch: some",
    /: match: "some": expected "all" or "any"/,
  ],
  [
    "match: any beside one word",
    "secret: a/b\nto: x\nmatch: any",
    /: match: "any": expected to and to-sel/,
  ],
  [
    "match: any beside exclusions",
    "secret: a/b\nto: '!x'\nto-selector: y\nmatch: any",
    /: to: "!x": expected a glob without "!" as well, or match off$/,
  ],
  ["paused that is neither", "secret: a/b\nto: x\npaused: yes", /: paused: "yes": expected "true"/],
  ["more items than are read", `secret: a/b\nto: [${"a,".repeat(4000)}]`, /at most 4000 lines/],
  ["more lines of the old kind", `secret: a/b\rto:\r${"- a\r".repeat(4000)}`, /at most 4000/],
  ["more lines than are read", `secret: a/b\nto:\n${"- a\n".repeat(4000)}`, /at most 4000 lines/],
  ["deeper than any entry is", `secret: ${"[".repeat(50)}`, /expected YAML \(nesting exceeded/],
  ["more text than annotations have", `secret: a/b\nto: ${"a,".repeat(131_072)}`, /at most 262144/],
];

for (const [what, text, reason] of REFUSED) {
  test(`an entry with a fault is refused, and reported by key and word: ${what}`, () => {
    assert.match(refusal(text), reason);
    assert.match(refusal(text), /^invalid entry tls: /);
  });
}

test("an entry for a ConfigMap is refused where ConfigMaps do not take part", () => {
  const reason = refusal("configMap: a/b\nto: x", { ...TERMS, kinds: ["Secret"] });
  assert.match(reason, /^invalid entry tls: configMap: "a\/b": expected .*--config-maps/);
});

test("what stands in a text that is no entry is not repeated", () => {
  for (const text of [
    "password: hunter2",
    "a: b\nhunter2",
    "*hunter2",
    "%hunter2 a\n---\n",
    "!h!hunter2 x",
  ])
    assert.doesNotMatch(refusal(text), /hunter2/);
});

test("entries that name one object are all refused, and each other one is not", () => {
  const text = "secret: a/b\nto: x";
  const list = parse({
    one: text,
    two: text,
    other: "secret: a/c\nto: x",
    map: "configMap: a/b\nto: x",
  });
  for (const key of ["one", "two"]) {
    const [problem] = list.get(key)?.problems ?? [];
    assert.ok(problem);
    const reason = `invalid entry ${key}: "a/b": expected one entry for an object: one, two name it`;
    assert.equal(problemText(problem), reason);
  }
  assert.equal(list.of("Secret", { namespace: "a", name: "b" })?.problems.length, 1);
  assert.deepEqual([list.get("other")?.problems, list.get("map")?.problems], [[], []]);
});

test("an entry is the same entry only if it is written as before", () => {
  const before = parse({ one: "secret: a/b\nto: x", two: "secret: a/c\nto: x" });
  const after = parse({ one: "secret: a/b\nto: x", two: "secret: a/c\nto: y" }, TERMS, before);
  assert.equal(after.get("one"), before.get("one"));
  assert.notEqual(after.get("two"), before.get("two"));
});

test("of a hundred faults of one entry five are reported", () => {
  const words = Array.from({ length: 100 }, (_, at) => `word-${at}: x\n`).join("");
  const list = parse({ tls: `secret: a/b\nto: x\n${words}` });
  assert.equal(list.get("tls")?.problems.length, 5);
});

// The probes of a coverage run cost more than the work itself.
const skip = process.env["NODE_V8_COVERAGE"] ? "a time means nothing under coverage" : false;
const lines = (line: string): string => `secret: a/b\n${line}`;
const WORST: readonly (readonly [what: string, text: string])[] = [
  ["a list of 4,000 names", lines(`to:\n${"- a\n".repeat(3990)}`)],
  ["a list in brackets", lines(`to: [${"a,".repeat(3990)}]`)],
  ["256 KiB of one line", lines(`to: ${"a,".repeat(131_000)}`)],
  ["256 KiB in quotes", lines(`to: "${"\\x61".repeat(65_000)}"`)],
  ["256 KiB of blanks", lines(`to:${" ".repeat(262_000)}a`)],
  ["256 KiB of brackets", "[".repeat(262_000)],
  ["4,000 words", Array.from({ length: 3990 }, (_, at) => `w${at}: x\n`).join("")],
  ["4,000 long lines", `to: ${`${"a".repeat(60)}\n `.repeat(3990)}`],
  ["4,000 documents", "---\n".repeat(3990)],
  ["colons", `a${": a".repeat(80_000)}`],
  [
    "many laughs",
    `a: &a [x,x]\n${Array.from({ length: 900 }, (_, at) => `b${at}: &b${at} [*a,*a]\n`).join("")}`,
  ],
];

for (const [what, text] of WORST) {
  test(`reading one entry holds nobody up: ${what}`, { skip }, () => {
    let [own, loop] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn === 0 || (turn < 20 && own > 2 * loop); turn++) {
      loop = Math.min(loop, processorMsOf(reference));
      const steps = parseSourceList({ tls: text }, TERMS, NO_ENTRIES);
      let most = 0;
      for (;;) {
        const start = processorMs();
        const { done } = steps.next();
        most = Math.max(most, processorMs() - start);
        if (done) break;
      }
      own = Math.min(own, most);
    }
    assert.ok(own <= 2 * loop, `${own} ms at a stretch, where 10 ms are now ${loop} ms`);
  });
}
