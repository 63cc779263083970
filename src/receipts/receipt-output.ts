// The lines of receipts that are not written yet. Promises:
// - write() never waits and never throws. A stream that blocks or fails delays nothing else.
// - Lines that could not be written are kept and tried again. Beyond a limit of bytes, new lines are lost and
//   counted, so memory is limited.
// - Lines are written in their order, each once. After a line that was cut off, also by another process, the next
//   begins on a line of its own.
import type { Clock, Timer } from "../../packages/kube/time/clock.ts";
import type { ReceiptSink } from "./receipt-journal.ts";
import { NEWLINE } from "./torn-end.ts";

/** Where the bytes are written. */
export type ReceiptTarget = {
  /**
   * Resolves with the number of bytes that were written: all of them, or fewer if it failed. May take any
   * time. Never rejects.
   */
  write(bytes: Buffer): Promise<number>;
  /**
   * Whether what is there ends in the middle of a line. Another process may have written it. Undefined means
   * that it is not known. It never rejects, and it is absent where this can never be known.
   */
  isTorn?(): Promise<boolean | undefined>;
  /** Nothing can be written any more, whatever happens. Asked after a failed write. */
  readonly isEnded?: boolean;
  /** A write in progress resolves soon. */
  close(): Promise<void>;
};

/** Most bytes that wait: about ten thousand lines. */
const MOST_UNSENT_BYTES = 8 * 1024 * 1024;
/** A statement of all copies waits until only this share of it is unsent. */
const DRAINED_SHARE = 16;
const BATCH_BYTES = 256 * 1024;
const AGAIN_MS = 1000;
/** A write to a file costs as much as dozens of lines, so those of a moment are written together. */
const GATHER_MS = 20;

export class ReceiptOutput implements ReceiptSink {
  readonly #target: ReceiptTarget;
  readonly #clock: Clock;
  readonly #most: number;
  #unsent: Buffer[] = [];
  #bytes = 0;
  #lost = 0;
  /** The last byte that was written is not the end of a line. */
  #torn = false;
  #sending = false;
  #closed = false;
  #next: Timer | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(target: ReceiptTarget, clock: Clock, mostUnsentBytes = MOST_UNSENT_BYTES) {
    this.#target = target;
    this.#clock = clock;
    this.#most = mostUnsentBytes;
  }

  /** Lines that were not and will not be written. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#closed || this.#bytes + bytes.length > this.#most) {
      this.#lost++;
      return;
    }
    this.#unsent.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#sending) this.#sendIn(GATHER_MS);
  }

  get isEnded(): boolean {
    return this.#closed;
  }

  get drained(): boolean {
    return this.#bytes <= this.#most / DRAINED_SHARE;
  }

  /** Resolves when it is drained or closed. */
  async whenDrained(): Promise<void> {
    while (!this.#closed && !this.drained)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Writes what is unsent, for at most `ms`. The rest is lost. Closing takes at most `ms` again. */
  async close(ms: number): Promise<void> {
    void this.#send();
    await this.#within(ms, this.#flushed());
    this.#end();
    // A file system that hangs may never let go of its file.
    await this.#within(ms, this.#target.close());
  }

  #end(): void {
    this.#closed = true;
    this.#next?.cancel();
    this.#lost += this.#unsent.length;
    this.#unsent = [];
    this.#bytes = 0;
    this.#wake();
  }

  /** Waits for `done`, for at most `ms`. */
  async #within(ms: number, done: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => (timer = this.#clock.setTimeout(resolve, ms)));
    await Promise.race([done, late]);
    timer?.cancel();
  }

  async #flushed(): Promise<void> {
    while (!this.#closed && this.#bytes > 0)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #sendIn(ms: number): void {
    this.#next ??= this.#clock.setTimeout(() => void this.#send(), ms);
  }

  async #send(): Promise<void> {
    this.#next?.cancel();
    this.#next = undefined;
    if (this.#sending) return;
    this.#sending = true;
    while (this.#unsent.length > 0 && !this.#next) {
      if (this.#target.isTorn) this.#torn = (await this.#target.isTorn()) ?? this.#torn;
      if (this.#closed) break;
      const batch = this.#batch();
      const written = await this.#target.write(batch.bytes);
      if (this.#closed) break;
      this.#took(batch, written);
      if (this.#target.isEnded === true) this.#end();
      else if (written < batch.bytes.length) this.#sendIn(AGAIN_MS);
      else if (this.#bytes < BATCH_BYTES && this.#bytes > 0) this.#sendIn(GATHER_MS);
      this.#wake();
    }
    this.#sending = false;
  }

  #batch(): { readonly bytes: Buffer; readonly start: number } {
    const start = this.#torn ? 1 : 0;
    const lines: Buffer[] = this.#torn ? [Buffer.from([NEWLINE])] : [];
    let length = 0;
    for (const line of this.#unsent) {
      if (length > 0 && length + line.length > BATCH_BYTES) break;
      lines.push(line);
      length += line.length;
    }
    return { bytes: Buffer.concat(lines), start };
  }

  #took(
    { bytes, start }: { readonly bytes: Buffer; readonly start: number },
    written: number,
  ): void {
    if (written === 0) return;
    this.#torn = bytes[written - 1] !== NEWLINE;
    let at = start;
    let count = 0;
    for (const { length } of this.#unsent) {
      if (at + length > written) break;
      at += length;
      count++;
      this.#bytes -= length;
    }
    this.#unsent.splice(0, count);
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
