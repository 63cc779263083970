// Prints the ids of packages/kube/STATEMENTS.md beside the tests that passed for them, and fails when an id
// that is listed as tested has no passing test, or when a test fails. FILE is what
// `TEST_RESULTS=FILE npm test` left: npm run ids -- FILE.
import { readFileSync } from "node:fs";
import { refuse, wordsOf } from "./words.ts";

const LIST = "packages/kube/STATEMENTS.md";
const ID = /\b[A-Z]{1,2}-?\d+\b/g;
// A result in the Test Anything Protocol; subtests are indented.
const RESULT = /^ *(?<not>not )?ok \d+ - (?<name>.*?)(?<directive> # (?:SKIP|TODO).*)?$/;
const LEADING_IDS = /^(?:[A-Z]{1,2}-?\d+[ ,:/]+)+/;

type Row = { readonly about: string; readonly ids: readonly string[]; readonly reason: string };
type Results = { readonly passed: Map<string, string[]>; readonly failed: readonly string[] };

/** The rows of every table whose second column is `test or reason`. */
function readRows(markdown: string): Row[] {
  const rows: Row[] = [];
  let inTable = false;
  for (const line of markdown.split("\n")) {
    const [about, cell] = line.split("|").slice(1, 3).map(trim);
    if (about === undefined || cell === undefined) inTable = false;
    else if (cell.toLowerCase() === "test or reason") inTable = true;
    else if (inTable && !/^:?-+:?$/.test(about)) rows.push(readRow(about, cell));
  }
  return rows;
}

function readRow(about: string, cell: string): Row {
  const own = idsAtStart(about);
  if (!/^`?tests?\b|\.test\.ts/.test(cell)) return { about, ids: [], reason: cell };
  const listed = cell.split(";")[0]?.match(ID) ?? [];
  return { about, ids: own.length > 0 ? own : listed, reason: "" };
}

function idsAtStart(text: string): string[] {
  return `${text} `.replaceAll("`", "").match(LEADING_IDS)?.[0].match(ID) ?? [];
}

function trim(text: string): string {
  return text.trim();
}

function readResults(file: string): Results {
  const passed = new Map<string, string[]>();
  const failed: string[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const { not, name, directive } = RESULT.exec(line)?.groups ?? {};
    if (name === undefined || directive !== undefined) continue;
    const said = name.replaceAll(/\\(.)/g, "$1");
    if (not !== undefined) failed.push(said);
    else for (const id of idsAtStart(said)) passed.set(id, [...(passed.get(id) ?? []), said]);
  }
  return { passed, failed };
}

function report(rows: readonly Row[], { passed, failed }: Results): string[] {
  const problems: string[] = [];
  const listed = new Set<string>();
  for (const { about, ids, reason } of rows) {
    for (const id of idsAtStart(about)) listed.add(id);
    if (ids.length === 0 && reason === "")
      problems.push(`${about}: neither a test nor a reason is given`);
    for (const id of ids) if (!passed.has(id)) problems.push(`${about}: no passing test for ${id}`);
    print(rowText(about, ids, reason, passed));
  }
  for (const id of passed.keys())
    if (!listed.has(id)) print(`not listed in ${LIST}: ${passed.get(id)?.[0]}`);
  return [...problems, ...failed.map((name) => `failed: ${name}`)];
}

function rowText(
  about: string,
  ids: readonly string[],
  reason: string,
  passed: ReadonlyMap<string, readonly string[]>,
): string {
  if (reason !== "") return `${about}\n    no test: ${reason}`;
  if (idsAtStart(about).length === 0) return `${about}\n    ${ids.join(", ")}`;
  const names = ids.flatMap((id) => passed.get(id) ?? ["NO PASSING TEST"]);
  return [about, ...names.map((name) => `    ${name}`)].join("\n");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { positionals } = wordsOf(import.meta.filename, { allowPositionals: true });
const [file] = positionals;
if (file === undefined)
  refuse(import.meta.filename, "give the file that TEST_RESULTS=FILE npm test wrote");
const rows = readRows(readFileSync(LIST, "utf8"));
const problems = report(rows, readResults(file));
const tested = rows.filter((row) => row.ids.length > 0).length;
print(`\n${rows.length} rows: ${tested} tested, ${rows.length - tested} with a reason`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
