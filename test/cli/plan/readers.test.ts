// `plan --base OLD -f NEW`: who gains and loses what by a change of files.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReaderChange } from "../../../src/cli/plan/reader-changes.ts";
import { MOST_CHARACTERS, readersMarkdown } from "../../../src/cli/plan/readers-markdown.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const NAMESPACES = ["team-a", "team-b", "prod"]
  .map((name) => `---\napiVersion: v1\nkind: Namespace\nmetadata: { name: ${name} }\n`)
  .join("");
const source = (name: string, annotations: string, namespace = "secretcast"): string =>
  `---\napiVersion: v1\nkind: Secret\nmetadata: { name: ${name}, namespace: ${namespace}, annotations: { ${annotations} } }\nstringData: { password: hunter2 }\n`;
const TO = (globs: string): string => `secretcast.io/to: "${globs}"`;

test("a change lists the namespaces that each source gains and loses, with exit code 2", async (t) => {
  const base = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-*")) });
  const next = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-a,prod")) });
  const { code, stdout, stderr } = await commandLine(["plan", "--base", base, "-f", next]);
  assert.equal(code, 2);
  assert.equal(
    stdout,
    "NAMESPACE    NAME   GAINS   LOSES    NOTE\nsecretcast   db     prod    team-b   1 not allowed\n",
  );
  assert.match(stderr, /secretcast\/db: new readers outside --allow-readers: prod/);
  assert.doesNotMatch(stdout + stderr, /hunter2|aHVudGVyMg/);
});

test("a reader that is allowed, and one that is lost, give exit code 0", async (t) => {
  const base = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-a,prod")) });
  const next = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-*")) });
  const words = ["plan", "--base", base, "-f", next, "--allow-readers", "team-*"];
  assert.equal((await commandLine(words)).code, 0);
  assert.equal((await commandLine(["plan", "--base", base, "-f", base])).code, 0);
});

test("a new file gives its readers, a pulling Secret among them", async (t) => {
  const pull = `---\napiVersion: v1\nkind: Secret\nmetadata: { name: mine, namespace: team-b, annotations: { secretcast.io/from: secretcast/ca } }\n`;
  const base = folderOf(t, { "a.yaml": NAMESPACES });
  const next = folderOf(t, {
    "a.yaml": NAMESPACES + source("ca", 'secretcast.io/allow: "team-*"') + pull,
  });
  const { stdout } = await commandLine(["plan", "--base", base, "-f", next, "-o", "json"]);
  const { kind, items } = JSON.parse(stdout) as { kind: string; items: readonly ReaderChange[] };
  assert.equal(kind, "ReaderChangeList");
  assert.deepEqual(
    items.map(({ name, gained, lost }) => [name, gained, lost]),
    [["ca", ["team-b"], []]],
  );
});

test("a source that becomes invalid is refused, loses no reader, and gives exit code 2", async (t) => {
  const base = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-*")) });
  const next = folderOf(t, { "a.yaml": NAMESPACES + source("db", 'secretcast.io/too: "x"') });
  const { code, stdout } = await commandLine([
    "plan",
    "--base",
    base,
    "-f",
    next,
    "-o",
    "markdown",
  ]);
  assert.equal(code, 2);
  assert.match(stdout, /^\| `secretcast\/db` \| refused: an annotation is invalid \|  \|$/m);
});

test("a source that has no effect gives exit code 2", async (t) => {
  const files = folderOf(t, { "a.yaml": NAMESPACES + source("db", TO("team-*"), "platform") });
  const words = ["plan", "--base", files, "-f", files];
  const { code, stderr } = await commandLine(words);
  assert.equal(code, 2);
  assert.match(stderr, /ignored, .*platform\/db/);
  assert.equal((await commandLine([...words, "--source-namespaces", "platform"])).code, 0);
});

test("flags that belong to --base are refused without it", async (t) => {
  const files = folderOf(t, { "a.yaml": NAMESPACES });
  for (const words of [
    ["--base", files],
    ["-f", files, "--allow-readers", "*"],
    ["-f", files, "-o", "markdown"],
    ["-f", files, "--base", files, "--expect", files],
    ["-f", files, "--base", files, "--allow-readers", "Team_A"],
  ]) {
    const { code, stderr } = await commandLine(["plan", ...words]);
    assert.equal(code, 1, words.join(" "));
    assert.match(stderr, /^secretcast: [^\n]*--(base|allow-readers)[^\n]*\n$/);
  }
});

test("the comment has the worst row first, and counts what does not fit", () => {
  const change = (name: string, gained: readonly string[]): ReaderChange => ({
    resource: "secrets",
    namespace: "platform",
    name,
    gained,
    lost: [],
    outside: gained,
    refused: false,
  });
  const names = Array.from({ length: 40 }, (_, index) => `team-${index}`);
  const many = Array.from({ length: 3000 }, (_, index) => change(`source-${index}`, names));
  const text = readersMarkdown([change("first", names), ...many]);
  assert.ok(text.length <= MOST_CHARACTERS, String(text.length));
  assert.match(
    text,
    /\| --- \|\n\| --- \| --- \| --- \|\n|\| --- \| --- \| --- \|\n\| `platform\/first`/,
  );
  const rows = text.match(/^\| `platform\//gm) ?? [];
  assert.match(text, new RegExp(`\n${3001 - rows.length} more sources are left out`));
  assert.match(readersMarkdown([]), /No namespace gains or loses a copy/);
});
