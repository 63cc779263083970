// Where log lines are written. A closed pipe, a full disk or a reader that stopped never ends the process or
// delays it: a line that cannot be written is lost and counted, and so is one for which too much is unread.

/** Bytes that a reader may have left unread: some thousand lines. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** As much of a stream as this needs. */
export type LogStream = {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Bytes that were not read yet. */
  readonly writableLength?: number;
  on?(event: "error", listener: (error: Error) => void): unknown;
};

export class LogOutput {
  readonly #stream: LogStream;
  #lost = 0;

  constructor(stream: LogStream) {
    this.#stream = stream;
    // Of each failure the line is reported; without a listener it would end the process.
    stream.on?.("error", () => undefined);
  }

  /** Lines that were not written. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if ((this.#stream.writableLength ?? 0) > MOST_UNREAD_BYTES) {
      this.#lost++;
      return;
    }
    this.#stream.write(line, (error) => {
      if (error) this.#lost++;
    });
  }
}
