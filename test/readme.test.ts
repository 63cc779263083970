// What the documentation says of the program is what the code says: tables, scripts, paths.
import { FAILURE_CAUSES } from "../packages/kube/rest/failure-cause.ts";
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAllYaml } from "@kubernetes/client-node";
import { COPIED_ANYWAY } from "../src/controller/annotations/never-copied.ts";
import { METRIC_STATE, VERDICTS } from "../src/controller/model/verdicts.ts";
import { ignoredOnPull } from "../src/controller/annotations/ignored.ts";
import {
  annotationKey,
  ANNOTATION_NAMES,
  annotationsOn,
  MARKS,
  VOCABULARY,
  type AnnotatedKind,
  type AnnotationName,
} from "../src/controller/annotations/vocabulary.ts";
import { LEASE_TIMES } from "../src/controller/settings/config.ts";
import { eventReasons } from "./support/documents/public-words.ts";
import { tableRows, uncoded } from "./support/documents/markdown.ts";
import { OBJECT_KINDS } from "../src/controller/model/kinds.ts";
import { FILTER_PARAMETERS, readFilter, SEVERITY } from "../src/page/filter.ts";

const ROOT = new URL("../", import.meta.url);
const text = (file: string) => readFileSync(new URL(file, ROOT), "utf8");
const readme = text("README.md");
const reference = text("docs/reference.md");
// docs/cli.md shows what the commands print, of words too that they refuse.
const PAGES = ["README.md", "CONTRIBUTING.md", "test/README.md"].concat(
  globSync("docs/**/*.md", { cwd: ROOT, exclude: ["docs/cli.md"] }),
);

test("the README's first command is in its first 12 lines", () => {
  const lines = readme.split("\n");
  assert.ok(lines.findIndex((line) => line.startsWith("npm ci && npm run demo")) < 12);
  assert.ok(lines.includes("npm ci && npm test"));
});

test("operations and reliability give the times of the Lease that the controller uses", () => {
  const { leaseDurationMs, renewDeadlineMs } = LEASE_TIMES;
  const [lease, deadline] = [leaseDurationMs / 1000, renewDeadlineMs / 1000];
  for (const [page, words] of [
    ["docs/operations.md", `another replica follows after ${lease} s`],
    ["docs/operations.md", `when the Lease expires (${lease} s)`],
    [
      "docs/reliability.md",
      `${deadline} s after the last renewal was sent, and ${lease - deadline} s before another replica`,
    ],
  ] as const)
    assert.ok(text(page).includes(words), `${page}: ${words}`);
});

test("the README's annotations are words of the vocabulary, on what carries them", () => {
  const rows = tableRows(readme, ["annotation", "on", "meaning"]);
  assert.equal(rows.length, 10);
  for (const [word = ""] of rows) assert.ok(Object.hasOwn(VOCABULARY, uncoded(word)), word);
});

test("the annotation table of the reference is the vocabulary without our marks", () => {
  const rows = tableRows(reference, ["annotation", "on", "value", "meaning"]);
  const words = ANNOTATION_NAMES.filter((name) => !MARKS.includes(name)).map((name) => {
    const on: readonly AnnotatedKind[] = VOCABULARY[name].on;
    return [name, on.filter((kind) => kind !== "copy").join(", ")];
  });
  assert.deepEqual(
    rows.map(([word = "", on = ""]) => [uncoded(word), on]),
    words,
  );
});

test("the reference names each mark that we set, under what carries it", () => {
  for (const [start, carrier] of [
    ["On copies, ", "copy"],
    ["On pulling Secrets, ", "pulling Secret"],
  ] as const) {
    const from = reference.indexOf(start);
    const sentence = reference.slice(from, reference.indexOf(".", from));
    const named = Array.from(sentence.matchAll(/`([^`]+)`/g), ([, word = ""]) => word);
    const ofUsers: readonly AnnotationName[] = carrier === "copy" ? ["on-delete"] : [];
    const carried = annotationsOn(carrier).filter((name) => [...MARKS, ...ofUsers].includes(name));
    assert.deepEqual(named.toSorted(), carried.toSorted());
  }
});

test("the reference has the exceptions from the keys that are never copied", () => {
  assert.deepEqual(COPIED_ANYWAY, ["app.kubernetes.io/*"]);
  assert.ok(reference.includes("All other `app.kubernetes.io/*` keys can be copied."));
});

test("the parameters and states of the status API are in the reference", () => {
  const rows = tableRows(reference, ["parameter", "value"]);
  assert.deepEqual(
    rows.map(([name = ""]) => uncoded(name)),
    FILTER_PARAMETERS,
  );
  const valuesOf = (parameter: string) =>
    uncoded(rows.find(([name = ""]) => uncoded(name) === parameter)?.[1] ?? "");
  assert.equal(valuesOf("state"), SEVERITY.join(", "));
  assert.equal(valuesOf("kind"), OBJECT_KINDS.join(" or "));
  for (const parameter of FILTER_PARAMETERS)
    assert.doesNotThrow(() => readFilter(new URLSearchParams(`${parameter}=`)), parameter);
});

test("the symptoms of the reference know no other cause of failures than the program", () => {
  const words = Object.keys(FAILURE_CAUSES);
  const symptoms = tableRows(reference, ["symptom", "look at", "likely cause"]).map(
    ([cell]) => cell,
  );
  const failed = symptoms.filter((symptom) => symptom?.startsWith("`Failed`:"));
  const named = failed.flatMap((symptom = "") =>
    Array.from(symptom.slice(9).matchAll(/`(\w+)`/g), ([, word = ""]) => word),
  );
  assert.ok(named.length > 5 && named.every((word) => words.includes(word)), named.join());
});

test("the verdict table of the reference has each verdict with its metric state", () => {
  const rows = tableRows(reference, ["verdict", "metric state", "meaning"]);
  assert.deepEqual(
    rows.map(([verdict = "", state = ""]) => [uncoded(verdict), uncoded(state)]),
    VERDICTS.map((verdict) => [verdict, METRIC_STATE[verdict] ?? ""]),
  );
});

for (const page of PAGES) {
  test(`every file that ${page} links to is there`, () => {
    const base = new URL(page, ROOT);
    for (const [, target = ""] of text(page).matchAll(/\]\(([^)#]+)[^)]*\)/g))
      if (!/^https?:/.test(target)) assert.ok(existsSync(new URL(target, base)), target);
  });

  test(`every script that ${page} names is one of package.json`, () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(text("package.json"));
    for (const [, script = ""] of text(page).matchAll(/npm run ([a-z:-]+)/g))
      assert.ok(Object.hasOwn(scripts, script), script);
  });

  test(`every YAML in ${page} is YAML, with annotations that exist`, () => {
    for (const [, yaml = ""] of text(page).matchAll(/^```yaml\n(.*?)^```/gms)) {
      assert.notEqual(loadAllYaml(yaml).length, 0);
      for (const [, key = ""] of yaml.matchAll(/secretcast\.io\/([\w-]+)/g))
        assert.ok(Object.hasOwn(VOCABULARY, key), key);
    }
  });
}

test("the reference lists the reasons of Events with type and time", () => {
  const rows = tableRows(reference, ["reason", "type", "when"]);
  assert.deepEqual(
    rows.map(([reason = ""]) => uncoded(reason)).toSorted(),
    eventReasons().toSorted(),
  );
});

test("the reference lists what is ignored on a pulling Secret", () => {
  const rows = tableRows(reference, ["`reason`", "counts", "do"]);
  const [, counts = ""] = rows.find(([reason]) => reason === "`pull`") ?? [];
  const named = Array.from(counts.matchAll(/`([^`]+)`/g), ([, word = ""]) => word);
  const ignored = ANNOTATION_NAMES.filter((word) => ignoredOnPull({ [annotationKey(word)]: "x" }));
  assert.deepEqual(named, ignored);
});
