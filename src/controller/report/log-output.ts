// Where log lines are written. A closed pipe, a full disk or a stopped reader never ends or delays the process.
// A line is lost and counted if it cannot be written or if too many bytes are unread.

/** Most bytes that a reader may leave unread: some thousand lines. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** The parts of a stream that are needed here. */
export type LogStream = {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Bytes that are not read yet. */
  readonly writableLength?: number;
  on?(event: "error", listener: (error: Error) => void): unknown;
};

export class LogOutput {
  readonly #stream: LogStream;
  #lost = 0;

  constructor(stream: LogStream) {
    this.#stream = stream;
    // The callback reports each failure. Without a listener an error would end the process.
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
