// Limits a client to two large answers at a time, and to one beyond 4 MiB of them. Users decide how large their
// objects are. The API server writes six bytes for a "<", and one character beyond Latin-1 makes V8 take two bytes
// for each. Decoding such an answer takes about four times its bytes in memory. So the limit counts the bytes that
// have arrived, and not those of the request. The other answers are not read further, so their rest waits at the
// API server.

/** An answer is large from this many bytes on. */
export const LARGE_ANSWER_BYTES = 256 * 1024;
const MOST_AT_ONCE = 2;
/** How many bytes of answers are read at a time. One answer is always read. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The slot of one answer. */
export type AnswerSlot = {
  /**
   * Whether the large answer may be read further now that `bytes` of it have arrived. Otherwise `begin` is called
   * later, when it may.
   */
  take(begin: () => void, bytes: number): boolean;
  /** The answer was decoded, or is not needed any more. */
  release(): void;
};

export class LargeAnswers {
  /** With the bytes that have arrived. */
  readonly #reading = new Map<AnswerSlot, number>();
  /** How each of the others goes on: first those that were read in part, then the others in order of arrival. */
  #waiting = new Map<AnswerSlot, { readonly begin: () => void; readonly bytes: number }>();

  slot(): AnswerSlot {
    let isReleased = false;
    const slot: AnswerSlot = {
      take: (begin, bytes) => {
        if (isReleased) return true;
        const wasReading = this.#reading.delete(slot);
        // No other answer begins while one waits, so that at most one is held in part.
        const mayRead = wasReading || this.#waiting.size === 0;
        if (mayRead && this.#fits(bytes)) this.#reading.set(slot, bytes);
        else if (wasReading) this.#waiting = new Map([[slot, { begin, bytes }], ...this.#waiting]);
        else this.#waiting.set(slot, { begin, bytes });
        return this.#reading.has(slot);
      },
      release: () => {
        isReleased = true;
        this.#waiting.delete(slot);
        if (this.#reading.delete(slot)) this.#beginNext();
      },
    };
    return slot;
  }

  #fits(bytes: number): boolean {
    if (this.#reading.size === 0) return true;
    const arrived = [...this.#reading.values()].reduce((sum, each) => sum + each, bytes);
    return this.#reading.size < MOST_AT_ONCE && arrived <= MOST_BYTES;
  }

  #beginNext(): void {
    for (const [slot, { begin, bytes }] of this.#waiting) {
      if (!this.#fits(bytes)) return;
      this.#waiting.delete(slot);
      this.#reading.set(slot, bytes);
      begin();
    }
  }
}
