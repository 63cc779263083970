// The way of each text to a terminal.
import type { Output, Program } from "../../run/program-context.ts";
import { printable, printableOutput } from "../../text/printable.ts";

/** One line on stderr, whatever others wrote into it. */
export function say(stderr: Program["stderr"], line: string): void {
  stderr.write(`${printable(line)}\n`);
}

/** Whatever a command forgets to make printable cannot control the terminal either. */
export function guarded(output: Output): Output {
  const { fd, isTTY = false } = output;
  return {
    ...(fd === undefined ? {} : { fd }),
    isTTY,
    write: (text, done) => output.write(printableOutput(text), done),
    on: (event, listener) => output.on?.(event, listener),
    get writableLength() {
      return output.writableLength ?? 0;
    },
    get rows() {
      return output.rows ?? 0;
    },
  };
}
