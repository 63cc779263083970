// Receipts in a file, in a pipe, on a full disk: as operators have them, with their log rotation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ReceiptOutput } from "../../src/receipts/receipt-output.ts";
import { UsageError } from "../../src/controller/settings/config.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { openReceiptFile } from "../../src/receipts/receipt-file.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";

type Opened = { readonly output: ReceiptOutput; readonly failures: string[] };

async function open(t: TestContext, path: string, most?: number): Promise<Opened> {
  const failures: string[] = [];
  const target = await openReceiptFile(path, systemClock, {
    onFailed: (code) => void failures.push(code),
    onWorked: () => undefined,
  });
  const output = new ReceiptOutput(target, systemClock, most);
  t.after(() => output.close(1));
  return { output, failures };
}

const holds = (path: string, text: string): Promise<boolean> =>
  eventually(`${path} holds ${JSON.stringify(text)}`, () => readFileSync(path, "utf8") === text);

test("a new file is readable by its owner alone, and an existing one appended to", async (t) => {
  const path = join(folderOf(t), "receipts.jsonl");
  const first = await open(t, path);
  first.output.write("one\n");
  await first.output.close(20_000);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  chmodSync(path, 0o640);
  const second = await open(t, path);
  second.output.write("two\n");
  await holds(path, "one\ntwo\n");
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

test("a renamed file is begun anew at its path, and a truncated one continues", async (t) => {
  const path = join(folderOf(t), "receipts.jsonl");
  const { output, failures } = await open(t, path);
  output.write("one\n");
  await holds(path, "one\n");
  renameSync(path, `${path}.1`);
  output.write("two\n");
  await eventually("a new file", () => statSync(path, { throwIfNoEntry: false }));
  await holds(path, "two\n");
  assert.equal(readFileSync(`${path}.1`, "utf8"), "one\n");
  truncateSync(path);
  output.write("three\n");
  await holds(path, "three\n");
  rmSync(path);
  output.write("four\n");
  await eventually("a new file", () => statSync(path, { throwIfNoEntry: false }));
  await holds(path, "four\n");
  assert.deepEqual([output.lost, failures], [0, []]);
});

test("a line that a killed process left unfinished stays one line", async (t) => {
  const path = join(folderOf(t), "receipts.jsonl");
  writeFileSync(path, '{"receipt":"cre');
  const { output, failures } = await open(t, path);
  output.write("one\n");
  await holds(path, '{"receipt":"cre\none\n');
  // Another process that shares the file dies as well.
  appendFileSync(path, '{"place":"a/');
  output.write("two\n");
  await holds(path, '{"receipt":"cre\none\n{"place":"a/\ntwo\n');
  renameSync(path, `${path}.1`);
  writeFileSync(path, "older\n");
  output.write("three\n");
  await holds(path, "older\nthree\n");
  assert.deepEqual([output.lost, failures], [0, []]);
});

test("a file that cannot be opened is one clear error", async (t) => {
  const inside = folderOf(t);
  writeFileSync(join(inside, "file"), "");
  mkdirSync(join(inside, "folder"));
  const server = createServer().listen(join(inside, "socket"));
  t.after(() => server.close());
  await once(server, "listening");
  for (const [path, said] of [
    [join(inside, "folder"), /cannot append to ".*folder": it is a folder: name a file in it$/],
    [join(inside, "no", "file"), /its folder does not exist: create it first$/],
    [join(inside, "file", "file"), /a part of its path is not a folder$/],
    [join(inside, "socket"), /it is a socket or a missing device: name a file or a named pipe$/],
    [join(inside, "x".repeat(300)), /its name is too long$/],
  ] as const)
    await assert.rejects(open(t, path), (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, said);
      return true;
    });
});

test("on a full disk lines wait, and are lost and counted beyond their limit", async (t) => {
  const { output, failures } = await open(t, "/dev/full", 100);
  for (let n = 0; n < 20; n++) output.write("123456789\n");
  assert.equal(output.lost, 10);
  await eventually("it says why", () => failures.includes("ENOSPC"));
  await output.close(1);
  assert.equal(output.lost, 20);
});

test("a pipe without a reader blocks nothing, and has the lines when a reader comes", async (t) => {
  const path = join(folderOf(t), "pipe");
  execFileSync("mkfifo", [path]);
  const { output, failures } = await open(t, path);
  output.write("one\n");
  await eventually("it says why", () => failures.includes("ENXIO"));
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  assert.equal(await readPipe(reader, 4), "one\n");
  assert.equal(output.lost, 0);
});

test("a reader of a pipe that stops reading blocks nothing", async (t) => {
  const path = join(folderOf(t), "pipe");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  const { output } = await open(t, path);
  const line = `${"x".repeat(999)}\n`;
  for (let n = 0; n < 300; n++) output.write(line);
  await eventually("the pipe is full", () => readPipe(reader, 1000).then((text) => text === line));
  assert.equal((await readPipe(reader, 299_000)).length, 299_000);
  await eventually("all is written", () => output.drained);
  assert.equal(output.lost, 0);
});

async function readPipe(reader: number, length: number): Promise<string> {
  let text = "";
  await eventually(`${length} bytes`, () => {
    const bytes = Buffer.alloc(length - text.length);
    try {
      text += bytes.subarray(0, readSync(reader, bytes)).toString();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
    return text.length === length;
  });
  return text;
}
