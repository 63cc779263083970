// `npm run reference`: writes the tables of docs/reference.md that the program holds, each between a comment
// `NAME:start` and a comment `NAME:end`. The words and sentences are the program's own. A table whose meaning only
// the page has is written by hand, and test/readme.test.ts compares its words. A test holds the page to be current.
import { readFileSync, writeFileSync } from "node:fs";
import { FAILURE_CAUSES } from "../packages/kube/rest/failure-cause.ts";
import { HELD_CODES } from "../src/cli/holding/held-value.ts";
import { WHAT_TO_DO } from "../src/cli/explanation/explain-verdict.ts";
import { NEVER_COPIED } from "../src/controller/annotations/never-copied.ts";
import { REASONS } from "../src/controller/model/reasons.ts";
import { REMOVAL_HOLDS } from "../src/controller/model/removal-holds.ts";
import { TARGET_STATES, type TargetState } from "../src/controller/model/verdicts.ts";
import { VERDICT_TABLE } from "../src/controller/plan/verdict-table.ts";
import { READ_GAUGES } from "../src/controller/report/gauges.ts";
import { createMetrics } from "../src/controller/report/metrics.ts";
import { FLAGS, type Flag } from "../src/controller/settings/flags.ts";
import { FINDINGS, RECEIPTS } from "../src/receipts/receipt-line.ts";
import { TRIGGERS } from "../src/receipts/triggers.ts";
import { cell, code, markdownTable } from "./markdown-table.ts";
import { wordsOf } from "./words.ts";

export const REFERENCE = new URL("../docs/reference.md", import.meta.url);

const TABLES: Readonly<Record<string, () => string>> = {
  "never-copied": () => `${NEVER_COPIED.map(code).join(", ")}.`,
  verdicts: verdictTable,
  holds: () =>
    table(
      ["`hold`", "because", "unless"],
      Object.entries(REMOVAL_HOLDS).map(([hold, text]) => [code(hold), text.because, text.unless]),
    ),
  flags: () =>
    table(
      ["flag", "default", "meaning"],
      FLAGS.map((flag) => [code(`--${flag.name}`), cell(flag.default), cell(meaningOf(flag))]),
    ),
  "rotation-codes": () => meanings("code", HELD_CODES),
  reasons: reasonTable,
  causes: () =>
    table(
      ["cause", "meaning", "do"],
      Object.entries(FAILURE_CAUSES).map(([cause, meaning]) => [
        code(cause),
        meaning,
        adviceOn(cause),
      ]),
    ),
  receipts: () => meanings("`receipt`", RECEIPTS),
  "receipt-codes": () => meanings("`code`", FINDINGS),
  triggers: () => meanings("`trigger`", TRIGGERS),
  metrics: metricTable,
};

/** The page with each of these tables as it should be. */
export function withTables(page: string): string {
  const missing = new Set(Object.keys(TABLES));
  const written = page.replaceAll(
    /<!-- ([a-z-]+):start -->.*?<!-- \1:end -->/gs,
    (_, name: string) => {
      const made = TABLES[name];
      if (!made) throw new Error(`docs/reference.md: the program has no table ${name}`);
      missing.delete(name);
      return `<!-- ${name}:start -->${made()}<!-- ${name}:end -->`;
    },
  );
  if (missing.size > 0)
    throw new Error(`docs/reference.md has no place for ${[...missing].join()}`);
  return written;
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  return `\n\n${markdownTable(head, body)}\n\n`;
}

function adviceOn(cause: string): string {
  const advice = WHAT_TO_DO[cause];
  if (advice === undefined) throw new Error(`WHAT_TO_DO has nothing for the cause ${cause}`);
  return advice;
}

function meanings(word: string, all: Readonly<Record<string, string>>): string {
  const rows = Object.entries(all).map(([name, meaning]) => [code(name), meaning]);
  return table([word, "meaning"], rows);
}

function meaningOf({ description, choices }: Flag): string {
  return choices ? `${description} (${choices.join(", ")})` : description;
}

function verdictTable(): string {
  const states = Object.entries(TARGET_STATES) as readonly [TargetState, string][];
  const row = (line: keyof typeof VERDICT_TABLE): readonly string[] =>
    states.map(([state]) => VERDICT_TABLE[line][state].map(code).join(" or "));
  return table(
    ["the Secret there is", ...states.map(([, text]) => text)],
    [
      ["wanted", ...row("wanted")],
      ["not wanted", ...row("unwanted")],
    ],
  );
}

/** `Reported` has the sentence of another program. */
function reasonTable(): string {
  const { Reported: _, ...own } = REASONS;
  const rows = Object.entries(own).map(([name, sentence]) => [
    code(name),
    sentence
      .replace(/^, /, "")
      .replaceAll(/\{(\w+)\}/g, (__, param: string) => code(param.toUpperCase())),
  ]);
  return table(["code", "sentence"], rows);
}

function metricTable(): string {
  type Made = { readonly name: string; readonly help: string; readonly type: string };
  const { registry } = createMetrics("secretcast", { ofProcess: false });
  const made = registry.getMetricsAsArray() as unknown as readonly Made[];
  const all = [...made, ...READ_GAUGES.map((gauge) => ({ ...gauge, type: "gauge" }))];
  return table(
    ["metric", "type", "meaning"],
    all
      .map(({ name, type, help }) => [code(name), type, cell(help)] as const)
      .toSorted(([one], [other]) => one.localeCompare(other)),
  );
}

if (import.meta.main) {
  wordsOf(import.meta.filename, {});
  writeFileSync(REFERENCE, withTables(readFileSync(REFERENCE, "utf8")));
}
