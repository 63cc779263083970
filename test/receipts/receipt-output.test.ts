// Where receipts wait: a stream that blocks or fails delays nothing, and each lost line is counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ReceiptOutput, type ReceiptTarget } from "../../src/receipts/receipt-output.ts";
import { FakeClock } from "../../packages/kube/testing/fake-clock.ts";

/** What was written, and a rule for the next writes: how many bytes of it are taken. */
class Target implements ReceiptTarget {
  text = "";
  rule: (bytes: Buffer) => Promise<number> = ({ length }) => Promise.resolve(length);
  closed = false;
  isEnded = false;

  async write(bytes: Buffer): Promise<number> {
    const written = await this.rule(bytes);
    this.text += bytes.subarray(0, written).toString();
    return written;
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function open(most?: number) {
  const [clock, target] = [new FakeClock(), new Target()];
  return { clock, target, output: new ReceiptOutput(target, clock, most) };
}

const never = (): Promise<number> => new Promise(() => {});

test("lines are written in their order, those of a moment together", async () => {
  const { clock, target, output } = open();
  let writes = 0;
  target.rule = ({ length }) => Promise.resolve((writes++, length));
  for (let n = 0; n < 50; n++) output.write(`${n}\n`);
  await clock.advance(10);
  for (let n = 50; n < 100; n++) output.write(`${n}\n`);
  await clock.advance(10);
  assert.equal(target.text, Array.from({ length: 100 }, (_, n) => `${n}\n`).join(""));
  assert.equal(writes, 1);
  assert.equal(output.lost, 0);
});

test("a stream that hangs delays no call and loses lines beyond its limit", async () => {
  const { clock, target, output } = open(1000);
  target.rule = never;
  for (let n = 0; n < 500; n++) output.write(`line ${n % 10}\n`);
  await clock.advance(60_000);
  assert.equal(output.lost, 500 - Math.floor(1000 / "line 0\n".length));
  assert.equal(output.drained, false);
});

test("lines that a full disk refuses are written later in their order", async () => {
  const { clock, target, output } = open();
  target.rule = () => Promise.resolve(0);
  output.write("one\n");
  output.write("two\n");
  await clock.advance(10_000);
  assert.equal(target.text, "");
  target.rule = ({ length }) => Promise.resolve(length);
  await clock.advance(1000);
  assert.equal(target.text, "one\ntwo\n");
  assert.equal(output.lost, 0);
});

test("a line that was cut off is written again whole", async () => {
  const { clock, target, output } = open();
  target.rule = () => Promise.resolve(6);
  output.write("one\n");
  output.write("two\n");
  await clock.advance(20);
  target.rule = ({ length }) => Promise.resolve(length);
  await clock.advance(1000);
  assert.equal(target.text, "one\ntw\ntwo\n");
});

test("closing writes what is unsent, and gives up in time with each line counted", async () => {
  const { target, output } = open();
  output.write("one\n");
  await output.close(2000);
  assert.deepEqual([target.text, output.lost, target.closed], ["one\n", 0, true]);

  const stuck = open();
  stuck.target.rule = never;
  stuck.output.write("one\n");
  stuck.output.write("two\n");
  let closed = false;
  void stuck.output.close(2000).then(() => (closed = true));
  await stuck.clock.advance(1999);
  assert.equal(closed, false);
  await stuck.clock.advance(1);
  assert.deepEqual([closed, stuck.output.lost, stuck.target.closed], [true, 2, true]);
  stuck.output.write("three\n");
  assert.equal(stuck.output.lost, 3, "nothing is taken afterwards");
});

test("closing has an end also where the target never closes", async () => {
  const { clock, target, output } = open();
  target.close = () => new Promise(() => {});
  let closed = false;
  void output.close(2000).then(() => (closed = true));
  await clock.advance(1999);
  assert.equal(closed, false);
  await clock.advance(1);
  assert.equal(closed, true);
});

test("who waits for room is called when there is some, or when it is closed", async () => {
  const { clock, target, output } = open(1600);
  target.rule = () => Promise.resolve(0);
  for (let n = 0; n < 100; n++) output.write("line\n");
  let drained = false;
  void output.whenDrained().then(() => (drained = true));
  await clock.advance(5000);
  assert.equal(drained, false);
  target.rule = ({ length }) => Promise.resolve(length);
  await clock.advance(1000);
  assert.equal(drained, true);
});

test("what nobody will ever read is lost at once, and so is every line afterwards", async () => {
  const { clock, target, output } = open();
  target.rule = () => {
    target.isEnded = true;
    return Promise.resolve(0);
  };
  output.write("one\n");
  output.write("two\n");
  await clock.advance(20);
  assert.equal(output.lost, 2);
  output.write("three\n");
  await clock.advance(60_000);
  assert.deepEqual([output.lost, output.isEnded, output.drained], [3, true, true]);
});
