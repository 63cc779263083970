// The stream of one process's receipts. It fails now and then: a batch is cut off, or nobody reads for a while,
// so that lines are lost.
import { ReceiptOutput, type ReceiptTarget } from "../../../src/receipts/receipt-output.ts";
import { sleep, type Clock } from "../../../packages/kube/time/clock.ts";
import type { ReceiptLine } from "../../support/receipts/replay-receipts.ts";

/** Few, so that a reader who rests for a moment costs lines. */
const MOST_UNSENT_BYTES = 16 * 1024;
const FAILS = 0.02;
const RESTS = 0.02;
const REST_MS = 20_000;

export type ReceiptStream = {
  readonly output: ReceiptOutput;
  /** As SIGKILL does. */
  readonly kill: () => void;
};

/** Tells which run begins when it does, which may be long before its lines are written. */
class BeginningOutput extends ReceiptOutput {
  onBegin: (run: string) => void = () => undefined;

  override write(line: string): void {
    const { receipt, run } = JSON.parse(line) as ReceiptLine;
    if (receipt === "begin") this.onBegin(run);
    super.write(line);
  }
}

/** `take` is told whole lines, `onBegin` each beginning. */
export function openStream(
  clock: Clock,
  chance: () => number,
  take: (text: string) => void,
  onBegin: (run: string) => void,
): ReceiptStream {
  let dead = false;
  const kill = (): void => {
    dead = true;
  };
  let torn = "";
  const target: ReceiptTarget = {
    write: async (bytes) => {
      if (chance() < RESTS) await sleep(clock, REST_MS);
      if (dead) return 0;
      const fails = chance() < FAILS;
      const written = fails ? Math.floor(chance() * bytes.length) : bytes.length;
      const text = torn + bytes.subarray(0, written).toString();
      const whole = text.lastIndexOf("\n") + 1;
      torn = text.slice(whole);
      take(text.slice(0, whole));
      return written;
    },
    close: () => Promise.resolve(kill()),
  };
  const output = new BeginningOutput(target, clock, MOST_UNSENT_BYTES);
  output.onBegin = (run) => {
    if (!dead) onBegin(run);
  };
  return { output, kill };
}
