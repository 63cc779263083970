// Writes receipts to the standard output. Promises:
// - A reader that stops reading delays nothing. After one that has left, nothing is written any more.
// - In a file, only bytes that were written count. Node's own stream writes each chunk once, and does not notice
//   that a full disk has taken only a part of it.
import { fstatSync, write } from "node:fs";
import { promisify } from "node:util";
import type { LogStream } from "../controller/report/log.ts";
import type { ReceiptTarget } from "./receipt-output.ts";
import { codeOf, type FileReports } from "./receipt-file.ts";
import { isTorn } from "./torn-end.ts";

/** `fd`: its file descriptor, if it is one of a process. */
type Stdout = Pick<LogStream, "write" | "on"> & { readonly fd?: number };
/** Resolves with the number of bytes that were written. */
type WriteFile = (descriptor: number, bytes: Buffer) => Promise<number>;

const writeOnce = promisify(write);
const writeFile: WriteFile = async (descriptor, bytes) =>
  (await writeOnce(descriptor, bytes)).bytesWritten;

/** `to`: writes to a file. */
export function receiptStdout(stdout: Stdout, reports: FileReports, to = writeFile): ReceiptTarget {
  const { fd } = stdout;
  return fd !== undefined && fstatSync(fd).isFile()
    ? { ...fileTarget((bytes) => to(fd, bytes), reports), isTorn: () => isTorn(`/dev/fd/${fd}`) }
    : streamTarget(stdout, reports);
}

function fileTarget(
  append: (bytes: Buffer) => Promise<number>,
  { onFailed, onWorked }: FileReports,
): ReceiptTarget {
  return {
    write: async (bytes) => {
      let written = 0;
      try {
        // Where nothing was taken, and no error says why, the rest is tried later.
        let taken: number;
        do {
          taken = await append(bytes.subarray(written));
          written += taken;
        } while (taken > 0 && written < bytes.length);
        if (written === bytes.length) onWorked();
      } catch (error) {
        onFailed(codeOf(error));
      }
      return written;
    },
    close: () => Promise.resolve(),
  };
}

/** A reader that has closed a pipe does not come back. */
const CLOSED: ReadonlySet<string> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

// The stream keeps what a reader does not take, so one write at a time limits what it keeps.
function streamTarget(stdout: Stdout, { onFailed, onWorked }: FileReports): ReceiptTarget {
  // Without a listener an error would end the process.
  stdout.on?.("error", () => undefined);
  let isEnded = false;
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        stdout.write(bytes.toString(), (error) => {
          isEnded = CLOSED.has(codeOf(error));
          if (error) onFailed(codeOf(error));
          else onWorked();
          resolve(error ? 0 : bytes.length);
        });
      }),
    get isEnded() {
      return isEnded;
    },
    close: () => Promise.resolve(),
  };
}
