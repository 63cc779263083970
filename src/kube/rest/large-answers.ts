// Limits a client to two large answers at a time. Users decide how large their objects are. The API server
// writes six bytes for a "<", and one character beyond Latin-1 makes V8 take two bytes for each. Decoding such
// an answer takes about four times its bytes in memory. The other answers are not read further, so their rest
// waits at the API server.

/** An answer is large from this many bytes on. */
export const LARGE_ANSWER_BYTES = 256 * 1024;
const MOST_AT_ONCE = 2;

/** The slot of one answer. */
export type AnswerSlot = {
  /** Whether the large answer may be read now. Otherwise `begin` is called later, when it may. */
  take(begin: () => void): boolean;
  /** The answer was decoded, or is not needed any more. */
  release(): void;
};

export class LargeAnswers {
  readonly #reading = new Set<AnswerSlot>();
  /** How each of the others begins, in order of arrival. */
  readonly #waiting = new Map<AnswerSlot, () => void>();

  slot(): AnswerSlot {
    let isReleased = false;
    const slot: AnswerSlot = {
      take: (begin) => {
        if (isReleased || this.#reading.has(slot)) return true;
        if (this.#reading.size < MOST_AT_ONCE) this.#reading.add(slot);
        else this.#waiting.set(slot, begin);
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

  #beginNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    const [slot, begin] = next;
    this.#waiting.delete(slot);
    this.#reading.add(slot);
    begin();
  }
}
