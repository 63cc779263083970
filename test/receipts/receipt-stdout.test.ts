// Receipts on the standard output: a full disk may take a part of what is written, a reader may leave.
import assert from "node:assert/strict";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "node:test";
import { ReceiptOutput } from "../../src/receipts/receipt-output.ts";
import { receiptStdout } from "../../src/receipts/receipt-stdout.ts";
import { FakeClock } from "../../packages/kube/testing/fake-clock.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

test("no line is lost when a full disk takes a part", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-receipts-"));
  const path = join(folder, "out");
  const fd = openSync(path, "a");
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  let room = 6;
  const failures: string[] = [];
  const target = receiptStdout(
    { fd, write: () => assert.fail("Node's own stream is not asked") },
    { onFailed: (code) => void failures.push(code), onWorked: () => void failures.push("over") },
    async (descriptor, bytes) => {
      if (room === 0) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      const taken = writeSync(descriptor, bytes.subarray(0, room));
      room -= taken;
      return taken;
    },
  );
  const clock = new FakeClock();
  const output = new ReceiptOutput(target, clock);
  for (const line of ["one\n", "two\n", "three\n"]) output.write(line);
  await clock.advance(20);
  await eventually("the disk is full", () => failures.length > 0);
  room = 100;
  await clock.advance(1000);
  await eventually("it has room", () => output.drained && failures.at(-1) === "over");
  assert.equal(readFileSync(path, "utf8"), "one\ntw\ntwo\nthree\n");
  assert.deepEqual([failures, output.lost], [["ENOSPC", "over"], 0]);
});

test("a line that a killed process left unfinished stays one line", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-receipts-"));
  const path = join(folder, "out");
  writeFileSync(path, '{"receipt":"cre');
  const fd = openSync(path, "a");
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const output = new ReceiptOutput(
    receiptStdout(
      { fd, write: () => assert.fail("Node's own stream is not asked") },
      { onFailed: (code) => assert.fail(code), onWorked: () => undefined },
    ),
    new FakeClock(),
  );
  output.write("one\n");
  await output.close(1);
  assert.equal(readFileSync(path, "utf8"), '{"receipt":"cre\none\n');
});

test("a file that takes nothing without an error is retried a second later", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-receipts-"));
  const fd = openSync(join(folder, "out"), "a");
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const tries: string[] = [];
  const target = receiptStdout(
    { fd, write: () => assert.fail("Node's own stream is not asked") },
    { onFailed: (code) => assert.fail(code), onWorked: () => undefined },
    (_, bytes) => Promise.resolve(tries.push(bytes.toString()) === 1 ? 0 : bytes.length),
  );
  const clock = new FakeClock();
  const output = new ReceiptOutput(target, clock);
  output.write("one\n");
  await clock.advance(20);
  await eventually("it is tried", () => tries.length === 1);
  await clock.advance(1000);
  await eventually("it is written", () => output.drained && tries.length === 2);
  assert.deepEqual([tries, output.lost], [["one\n", "one\n"], 0]);
});

test("each line after the reader's end is counted as lost", async () => {
  const left = Object.assign(new Error("the reader has left"), { code: "EPIPE" });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(left) });
  const failures: string[] = [];
  const target = receiptStdout(stdout, {
    onFailed: (code) => void failures.push(code),
    onWorked: () => assert.fail("nothing was written"),
  });
  const clock = new FakeClock();
  const output = new ReceiptOutput(target, clock);
  output.write("one\n");
  await clock.advance(20);
  await eventually("it is tried", () => output.lost === 1);
  output.write("two\n");
  await clock.advance(10_000);
  assert.deepEqual([failures, output.lost], [["EPIPE"], 2]);
});
