// Where globs and selector meet: both must hold, or with `match: any` one of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { explain } from "../../../src/cli/explanation/explain.ts";
import { matchOf, targetsOf } from "../../../src/controller/desired/targets.ts";
import type { Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

const LABELS: Readonly<Record<string, Texts>> = {
  "team-a": {},
  "team-b": { tier: "gold" },
  "team-legacy": { tier: "gold" },
  shop: { tier: "gold" },
  other: { tier: "tin" },
};

function cluster(words: Texts): Cluster {
  const made = new Cluster().withNamespaces("shared");
  for (const [name, labels] of Object.entries(LABELS)) made.namespace(name, {}, labels);
  made.secret("shared/one", words);
  return made;
}

function served(made: Cluster): readonly string[] {
  return Object.keys(LABELS).filter((name) => made.secrets.has(`${name}/one`));
}

const BOTH = { to: "team-*,!team-legacy", "to-selector": "tier=gold" };

test("match: any takes a namespace by name or labels, except what a ! glob excludes", () => {
  const made = cluster({ ...BOTH, match: "any" });
  made.settle();
  assert.deepEqual(served(made), ["team-a", "team-b", "shop"]);
});

test("match: all is what holds without it", () => {
  for (const words of [BOTH, { ...BOTH, match: "all" }]) {
    const made = cluster(words);
    made.settle();
    assert.deepEqual(served(made), ["team-b"]);
  }
});

test("match counts for allow and allow-selector as well", () => {
  const allow = { allow: "team-a,!other", "allow-selector": "tier" };
  for (const [match, filled] of [
    ["all", []],
    ["any", ["team-a", "shop"]],
  ] as const) {
    const made = cluster({ ...allow, match });
    for (const name of ["team-a", "shop", "other"])
      made.secret(`${name}/app`, { from: "shared/one" }, { data: {} });
    made.settle();
    const marked = ["team-a", "shop", "other"].filter(
      (name) => "secretcast.io/source-version" in made.get(`${name}/app`).metadata.annotations,
    );
    assert.deepEqual(marked, filled, match);
  }
});

test("a word that stands alone beside a pair keeps its meaning under any", () => {
  const made = cluster({ ...BOTH, match: "any", allow: "!team-a" });
  assert.equal(made.settle().sources[0]?.state, "ok");
});

for (const [what, words, annotation, part, expected] of [
  [
    "without to-selector",
    { to: "team-*" },
    "match",
    "any",
    /to and to-selector, or allow and allow-selector/,
  ],
  ["without to", { "to-selector": "tier" }, "match", "any", /with it, or no match/],
  ["with to and allow alone", { to: "a", allow: "b" }, "match", "any", /with it, or no match/],
  [
    "with ! globs alone",
    { to: "!a,!b", "to-selector": "tier" },
    "to",
    "!a,!b",
    /a glob without "!"/,
  ],
  [
    "with ! globs alone in allow",
    { allow: " !a", "allow-selector": "tier" },
    "allow",
    "!a",
    /match off/,
  ],
] as const) {
  test(`match: any ${what} refuses the source, and says what is missing`, () => {
    const made = cluster({ ...words, match: "any" });
    const result = made.sync();
    assert.deepEqual(result.actions, []);
    assert.deepEqual(
      result.sources[0]?.problems.map(({ annotation, part }) => [annotation, part]),
      [[`secretcast.io/${annotation}`, part]],
    );
    assert.match(result.sources[0]?.problems[0]?.expected ?? "", expected);
  });
}

for (const value of ["", "Any", "either", "any,all"]) {
  test(`match: ${JSON.stringify(value)} is neither all nor any: it refuses the source, and its copies freeze`, () => {
    const made = cluster(BOTH);
    made.settle();
    made.annotate("shared/one", { match: value });
    made.namespace("team-b", {}, { tier: "tin" });
    const result = made.settle();
    assert.equal(result.sources[0]?.problems[0]?.annotation, "secretcast.io/match");
    assert.deepEqual(
      result.rows.map(({ verdict }) => verdict),
      ["frozen"],
    );
    assert.deepEqual(served(made), ["team-b"]);
  });
}

test("a change from any to all removes copies after the grace, and back creates them", () => {
  const made = cluster({ ...BOTH, match: "any" });
  made.settle();
  const say = (match: string): void => void made.annotate("shared/one", { match });
  say("all");
  made.end();
  assert.deepEqual(served(made), ["team-b"]);
  say("any");
  made.settle();
  assert.deepEqual(served(made), ["team-a", "team-b", "shop"]);
  made.namespace("shop", {}, { tier: "tin" });
  const questions: string[] = [];
  made.now += made.settings.deleteGraceMs;
  made.plan();
  made.now += made.settings.deleteGraceMs;
  for (const action of made.plan().actions)
    if (action.kind === "confirm") questions.push(...action.liveReads.map(({ kind }) => kind));
  assert.deepEqual(questions.toSorted(), ["Namespace", "Secret"]);
  made.settle();
  assert.deepEqual(served(made), ["team-a", "team-b"]);
});

test("explain says of match: any what each word answers, and agrees with the plan", () => {
  const made = cluster({ ...BOTH, match: "any" });
  made.settle();
  const subject = { namespace: "shared", name: "one" };
  const { answers, places } = explain(made.clusterState(), made.settings, made.plan(), subject);
  const asks = answers.find(({ rule }) => rule.startsWith("it asks for copies"));
  assert.equal(
    asks?.answer,
    "secretcast.io/to: team-*,!team-legacy, or secretcast.io/to-selector: tier=gold",
  );
  const reported = places.map(({ place, verdict, decided }) => {
    return `${place.namespace} ${verdict}: ${decided.answer.replaceAll("secretcast.io/", "")}`;
  });
  const neither =
    "it does not match to: team-*,!team-legacy, and its labels do not match to-selector: tier=gold";
  assert.deepEqual(reported, [
    `other skip: ${neither}`,
    "shared skip: it is the source's own namespace",
    "shop current: the copy is what it should be",
    "team-a current: the copy is what it should be",
    "team-b current: the copy is what it should be",
    "team-legacy skip: a ! entry of to excludes it: team-*,!team-legacy",
  ]);
});

test("any is the union of what the two words want alone, less what is excluded", () => {
  const globs = fc.uniqueArray(
    fc.constantFrom("team-*", "*-b", "shop", "?ther", "!team-b", "!s*"),
    {
      minLength: 1,
      maxLength: 4,
    },
  );
  const selector = fc.constantFrom("tier", "!tier", "tier=gold", "tier notin (gold)");
  fc.assert(
    fc.property(globs, selector, (entries, labels) => {
      if (entries.every((entry) => entry.startsWith("!"))) return;
      const wanting = (words: Texts): ReadonlySet<string> => {
        const made = cluster(words);
        const source = made.cached("shared/one");
        assert.ok(source.role === "source" && source.rule.to !== undefined, JSON.stringify(words));
        const asking = { namespace: "shared", text: "shared/one", to: source.rule.to };
        const targets = targetsOf(made.clusterState(), made.settings);
        return new Set(
          targets.filter((target) => matchOf(asking, target) === "wanted").map(({ name }) => name),
        );
      };
      const to = entries.join(",");
      const [byName, byLabel] = [wanting({ to }), wanting({ "to-selector": labels })];
      const excluded = entries.filter((entry) => entry.startsWith("!"));
      const left = excluded.length > 0 ? wanting({ to: excluded.join(",") }) : undefined;
      const union = [...byName, ...byLabel].filter((name) => left?.has(name) ?? true);
      const any = wanting({ to, "to-selector": labels, match: "any" });
      assert.deepEqual(any, new Set(union));
    }),
  );
});
