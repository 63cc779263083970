// Appends receipts to a file, a named pipe or a device. Promises:
// - Each write appends (O_APPEND), so several processes can share a file, and a file that was truncated is
//   continued at its new end.
// - A file that was renamed or removed is opened anew at its path. No signal is needed.
// - A pipe that nobody reads never blocks: it is tried again.
// - A new file has the mode 0600.
import { constants, type Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import type { ReceiptTarget } from "./receipt-output.ts";
import { isTorn } from "./torn-end.ts";
import { UsageError } from "../controller/settings/config.ts";
import { sleep, type Clock } from "../../packages/kube/time/clock.ts";

const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NONBLOCK |
  constants.O_NOCTTY;
const MODE = 0o600;
/** How soon a full pipe is tried again. */
const FULL_MS = 50;

const ADVICE: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder: name a file in it",
  ENOENT: "its folder does not exist: create it first",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "this user may not write it: change its owner or mode, or name another file",
  EPERM: "this user may not write it: change its owner or mode, or name another file",
  EROFS: "its file system is read-only: mount a volume there",
  ENAMETOOLONG: "its name is too long",
  ENXIO: "it is a socket or a missing device: name a file or a named pipe",
  ELOOP: "its symbolic links lead nowhere",
};

export type FileReports = {
  /** With the code of an error: "ENOSPC". */
  readonly onFailed: (code: string) => void;
  readonly onWorked: () => void;
};

/** Throws a UsageError if the file cannot be opened, except for a pipe without a reader. */
export async function openReceiptFile(
  path: string,
  clock: Clock,
  reports: FileReports,
): Promise<ReceiptTarget> {
  try {
    return new ReceiptFile(path, clock, reports, await openFile(path));
  } catch (error) {
    const code = codeOf(error);
    const found = code === "ENXIO" ? await stat(path).catch(() => undefined) : undefined;
    if (found?.isFIFO() === true) return new ReceiptFile(path, clock, reports, undefined);
    const why = ADVICE[code] ?? `it cannot be opened (${code})`;
    throw new UsageError(`--receipts: cannot append to ${JSON.stringify(path)}: ${why}`);
  }
}

/** An open file, and which one it is. */
type OpenFile = Pick<Stats, "ino" | "dev"> & { readonly handle: FileHandle };

async function openFile(path: string): Promise<OpenFile> {
  const handle = await open(path, FLAGS, MODE);
  const { ino, dev } = await handle.stat();
  return { handle, ino, dev };
}

class ReceiptFile implements ReceiptTarget {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #reports: FileReports;
  readonly #closed = new AbortController();
  #file: OpenFile | undefined;

  constructor(path: string, clock: Clock, reports: FileReports, file: OpenFile | undefined) {
    this.#path = path;
    this.#clock = clock;
    this.#reports = reports;
    this.#file = file;
  }

  async write(bytes: Buffer): Promise<number> {
    let written = 0;
    try {
      const file = await this.#current();
      while (written < bytes.length && !this.#closed.signal.aborted)
        written += await this.#append(file, bytes.subarray(written));
      if (written === bytes.length) this.#reports.onWorked();
    } catch (error) {
      this.#reports.onFailed(codeOf(error));
      // The reader of a pipe has left, or the file is broken. The next write opens it anew.
      await this.#leave();
    }
    return written;
  }

  isTorn(): Promise<boolean | undefined> {
    return isTorn(this.#path);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#leave();
  }

  /** The number of bytes that were written. 0 if a pipe was full. */
  async #append({ handle }: OpenFile, bytes: Buffer): Promise<number> {
    try {
      const { bytesWritten } = await handle.write(bytes);
      if (bytesWritten > 0) return bytesWritten;
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
    }
    await sleep(this.#clock, FULL_MS, this.#closed.signal);
    return 0;
  }

  async #current(): Promise<OpenFile> {
    if (this.#file && !(await this.#isAtPath(this.#file))) await this.#leave();
    return (this.#file ??= await openFile(this.#path));
  }

  async #isAtPath({ ino, dev }: OpenFile): Promise<boolean> {
    const there = await stat(this.#path).catch(() => undefined);
    return there !== undefined && there.ino === ino && there.dev === dev;
  }

  async #leave(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => undefined);
  }
}

/** The code of an error of the file system: "ENOSPC". */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unknown";
}
