// How `npm run test:cluster` shares its control planes among test files that run at once.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { Lanes, type FileRole } from "./support/api-server/lanes.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";

const LANE = new URL("support/api-server/lane.ts", import.meta.url).href;
/** Says what it was given, and runs until it is ended. */
const FILE = `process.stdout.write(process.env.CLUSTER_ACCESS + " " + process.env.CLUSTER_LANES + "\\n"); process.stdin.resume()`;

function roleOf(file: string): FileRole {
  if (file.endsWith("alone.test.ts")) return "alone";
  return file.endsWith("beside.test.ts") ? "beside" : "shared";
}

type File = { readonly process: ChildProcess; readonly said: readonly string[] };

async function open(t: TestContext, accesses: readonly string[]): Promise<Lanes<string>> {
  const lanes = new Lanes(accesses, roleOf);
  await lanes.listen();
  t.after(() => lanes.close());
  return lanes;
}

/** Starts a process that looks like the test file `name` to the lanes. */
function start(t: TestContext, lanes: Lanes<string>, name: string): File {
  const args = ["--import", LANE, "--eval", FILE, name];
  const env = { ...process.env, CLUSTER_LANES: lanes.socketFile, NODE_TEST_CONTEXT: "child-v8" };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const said: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
  return { process: child, said };
}

const begun = (file: File): Promise<unknown> => eventually("it runs", () => file.said.length > 0);

async function end(file: File, signal?: NodeJS.Signals): Promise<void> {
  const ended = once(file.process, "exit");
  if (signal === undefined) file.process.stdin?.end();
  else file.process.kill(signal);
  await ended;
}

test("files that run together have separate control planes", async (t) => {
  const lanes = await open(t, ["one", "two"]);
  const files = ["a.test.ts", "b.test.ts"].map((name) => start(t, lanes, name));
  for (const file of files) await begun(file);
  assert.deepEqual(
    files.flatMap(({ said }) => said).toSorted((a, b) => a.localeCompare(b)),
    ['"one" undefined', '"two" undefined'],
  );
  for (const file of files) await end(file);
  await eventually("both are counted", () => lanes.runs.length === 2);
});

test("what a killed file had is the next one's, and the next waits until then", async (t) => {
  const lanes = await open(t, ["one"]);
  const first = start(t, lanes, "a.test.ts");
  await begun(first);
  const next = start(t, lanes, "b.test.ts");
  await eventually("it waits", () => lanes.waiting === 1);
  assert.deepEqual(next.said, []);
  await end(first, "SIGKILL");
  await begun(next);
  assert.deepEqual(next.said, ['"one" undefined']);
});

test("a file that runs alone waits for the others and delays the next", async (t) => {
  const lanes = await open(t, ["one", "two"]);
  const other = start(t, lanes, "a.test.ts");
  await begun(other);
  const alone = start(t, lanes, "alone.test.ts");
  await eventually("it waits", () => lanes.waiting === 1);
  const late = start(t, lanes, "b.test.ts");
  await eventually("both wait", () => lanes.waiting === 2);
  await end(other);
  await begun(alone);
  assert.equal(lanes.waiting, 1, "the late one waits, though a control plane is free");
  await end(alone);
  await begun(late);
});

test("files beside take turns, have no control plane, and keep none from another file", async (t) => {
  const lanes = await open(t, ["one"]);
  const first = start(t, lanes, "a-beside.test.ts");
  await begun(first);
  const next = start(t, lanes, "b-beside.test.ts");
  await eventually("it waits", () => lanes.waiting === 1);
  const other = start(t, lanes, "a.test.ts");
  await begun(other);
  const alone = start(t, lanes, "alone.test.ts");
  await eventually("two wait", () => lanes.waiting === 2);
  await end(other);
  assert.deepEqual([first.said, alone.said], [["undefined undefined"], []]);
  await end(first);
  await begun(next);
  assert.deepEqual(alone.said, []);
  await end(next);
  await begun(alone);
});

test("a file that was killed while it waited is forgotten", async (t) => {
  const lanes = await open(t, ["one"]);
  const first = start(t, lanes, "a.test.ts");
  await begun(first);
  const gone = start(t, lanes, "b.test.ts");
  await eventually("it waits", () => lanes.waiting === 1);
  await end(gone, "SIGKILL");
  await eventually("nobody waits", () => lanes.waiting === 0);
  await end(first);
  await begun(start(t, lanes, "c.test.ts"));
});

test("what the lanes had on disk is gone when they close", async () => {
  const lanes = new Lanes(["one"], roleOf);
  await lanes.listen();
  const folder = dirname(lanes.socketFile);
  assert.ok(existsSync(folder));
  await lanes.close();
  assert.ok(!existsSync(folder));
});
