// `secretcast status` under a flood of sources: a terminal shows a screenful, the worst first, and says
// what it left out; a pipe and what programs read have all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOfFirstScreen } from "../../../src/inspect/kubectl/first-screen.ts";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

const FLOOD = 1500;

function source(name: string, annotations: Readonly<Record<string, string>>): JsonObject {
  const metadata = { namespace: "secretcast", name, annotations };
  return { kind: "Secret", metadata, data: {} };
}

const OBJECTS: readonly JsonObject[] = [
  { kind: "Namespace", metadata: { name: "secretcast" } },
  ...Array.from({ length: FLOOD }, (_, at) =>
    source(`fine-${at}`, { "secretcast.io/to": "none-*" }),
  ),
  source("wrong", { "secretcast.io/to": "team-a", "secretcast.io/too": "x" }),
];

const rowsOf = (text: string) => text.split("\n").filter((line) => line.startsWith("secretcast "));

test("a terminal shows the worst screenful of a flood and counts the rest", async (t) => {
  const { run } = await sandboxCluster(t, OBJECTS);
  const { stdout, stderr } = await run(["status"], {
    terminal: true,
    rows: 30,
    env: { NO_COLOR: "1" },
  });
  const rows = rowsOf(stdout);
  assert.match(rows[0] ?? "", /^secretcast +wrong +refused/);
  assert.ok(stdout.split("\n").length + stderr.split("\n").length <= 30, stdout + stderr);
  assert.match(stdout, /^refused +secretcast\/wrong /m);
  const more =
    /… and (1,\d{3}) more sources and 1,\d{3} more reasons: -n NAMESPACE or --failing .*-o json/m.exec(
      stderr,
    );
  assert.equal(Number(more?.[1]?.replace(",", "")) + rows.length, FLOOD + 1);
});

test("a pipe, and what programs read, has every source", async (t) => {
  const { run } = await sandboxCluster(t, OBJECTS);
  const piped = await run(["status"]);
  assert.equal(rowsOf(piped.stdout).length, FLOOD + 1);
  assert.doesNotMatch(piped.stderr, /…/);
  const json = await run(["status", "-o", "json"], { terminal: true, rows: 30 });
  assert.equal(JSON.parse(json.stdout).items.length, FLOOD + 1);
  assert.doesNotMatch(json.stderr, /…/);
  const names = await run(["status", "-o", "name"], { terminal: true, rows: 30 });
  assert.equal(names.stdout.trim().split("\n").length, FLOOD + 1);
});

test("what one list leaves of the screen the other has", () => {
  const terminal = (rows?: number) => ({
    stdout: { write: () => true, isTTY: true, ...(rows !== undefined && { rows }) },
  });
  assert.deepEqual(linesOfFirstScreen(1000, 1000, terminal(50)), [20, 20]);
  assert.deepEqual(linesOfFirstScreen(1000, 3, terminal(50)), [37, 20]);
  assert.deepEqual(linesOfFirstScreen(2, 1000, terminal(50)), [20, 38]);
  assert.deepEqual(linesOfFirstScreen(1000, 1000, terminal(3)), [5, 5]);
  assert.deepEqual(linesOfFirstScreen(1000, 0, terminal()), [14, 7]);
  assert.deepEqual(linesOfFirstScreen(1000, 0, terminal(0)), [14, 7]);
});
