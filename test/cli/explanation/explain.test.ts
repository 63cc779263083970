// Which places are explained, and by which rules. The texts are those of explain-verdict.test.ts and
// explain-object.test.ts; that the verdicts are the plan's is explain.property.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSelector } from "../../../src/text/label-selector.ts";
import { refText } from "../../../src/text/names.ts";
import { shellWord } from "../../../src/text/shell-word.ts";
import { cluster, ask, refused, settled, withOther } from "../../support/planner/explained.ts";

test("a copied source: every rule holds, and the copy itself decides", () => {
  const made = settled({ to: "team-*", "to-selector": "tier" });
  const [place] = ask(made, "shared/one", "team-a").places;
  assert.equal(place?.verdict, "current");
  assert.deepEqual(
    place.answers.map(({ rule, holds }) => `${rule}: ${holds}`),
    [
      "its namespace is a source namespace: true",
      "it exists: true",
      "its annotations are valid: true",
      "it is not being deleted: true",
      "it asks for copies: true",
      "the source is not paused: true",
      "its copies have this name: true",
      "the namespace exists: true",
      "it is not the source's own: true",
      "it is not excluded: true",
      "secretcast.io/to names it: true",
      "secretcast.io/to-selector selects it: true",
      "the namespace accepts it: true",
      "what is there: true",
    ],
  );
  assert.equal(place.decided, place.answers.at(-1));
});

test("without a namespace every one is answered, and by name", () => {
  const reported = ask(cluster({ to: "team-*,!team-x" }), "shared/one").places;
  assert.deepEqual(
    reported.map(({ place, verdict }) => [place.namespace, verdict]),
    [
      ["kube-system", "skip"],
      ["shared", "skip"],
      ["team-a", "create"],
      ["team-b", "skip"],
    ],
  );
});

test("a copy is reported as what it is, and by the rules of its source", () => {
  const made = settled({ to: "team-*" });
  const reported = ask(made, "team-a/one");
  assert.equal(reported.is, "copy");
  assert.deepEqual(refused(reported), [
    "it is no copy: it is a copy of shared/one, and never a source",
  ]);
  assert.deepEqual(
    reported.places.map(({ verdict, source }) => `${verdict} of ${refText(source)}`),
    ["current of shared/one"],
  );
});

test("of a Secret that is in the way it is told who wants its place", () => {
  const made = withOther({ to: "team-*" }, {});
  const { is, places } = ask(made, "team-a/one");
  assert.equal(is, "other");
  assert.deepEqual(
    places.map(({ verdict, source }) => `${verdict} of ${refText(source)}`),
    ["conflict of shared/one"],
  );
});

test("copies of a source that is gone are found by its name", () => {
  const made = settled({ to: "team-a" });
  made.delete("shared/one");
  const { is, places } = ask(made, "shared/one");
  assert.equal(is, "absent");
  assert.match(places[0]?.reason ?? "", /^source shared\/one is gone; will be removed after/);
  assert.ok(places[0]?.due.dueAt !== undefined);
});

test("a command is ready for a shell, whatever a user wrote", () => {
  const made = cluster({ to: "shop", "to-selector": "tier=tin" });
  const typed = ask(made, "shared/one", "team-a").places[0]?.decided.change ?? "";
  assert.equal(
    typed,
    "kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a",
  );
  assert.equal(shellWord("it's; rm -rf /"), String.raw`'it'\''s; rm -rf /'`);
  assert.equal(shellWord("$(x)"), "'$(x)'");
});

test("labels that are typed as told match the selector", () => {
  const labels: Record<string, string> = { tier: "tin", old: "" };
  const selector = parseSelector("tier=gold,!old,env in (dev, prod),team,zone notin (a)");
  assert.ok(selector.ok);
  const typed = selector.value.changes(labels);
  assert.deepEqual(typed, ["tier=gold", "old-", "env=dev", "team=VALUE"]);
  for (const change of typed) {
    const [key = "", value] = change.split("=");
    if (value === undefined) delete labels[key.slice(0, -1)];
    else labels[key] = value;
  }
  assert.ok(selector.value.matches(labels));
  assert.deepEqual(selector.value.changes(labels), []);
});

test("the way out of a source of the list is an entry of the list", () => {
  const made = cluster({ to: "nowhere" });
  made.list({ tls: "secret: shared/one\nto: shop\npaused: 'true'\n" });
  made.reread();
  const { answers, places } = ask(made, "shared/one");
  assert.match(answers[0]?.answer ?? "", /its entry tls does/);
  const changeOf = (namespace: string) =>
    places.find(({ place }) => place.namespace === namespace)?.decided.change;
  assert.equal(changeOf("team-a"), "say to: shop,team-a, in entry tls of the source list");
  const typed = answers.find(({ holds }) => !holds)?.change;
  assert.equal(typed, "take paused off, in entry tls of the source list");
});
