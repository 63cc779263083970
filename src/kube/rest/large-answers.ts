// Limits a client to two large answers at a time. Users decide how large their objects are. The API server
// writes six bytes for a "<", and one character beyond Latin-1 makes V8 take two bytes for each. Decoding such
// an answer takes about four times its bytes in memory. The other answers are not read further, so their rest
// waits at the API server.

/** An answer is large from this many bytes on. */
export const LARGE_ANSWER_BYTES = 256 * 1024;
const MOST_AT_ONCE = 2;

export class LargeAnswers {
  #free = MOST_AT_ONCE;
  /** In order of arrival. */
  readonly #waiting = new Set<AnswerTurn>();

  turn(): AnswerTurn {
    return new AnswerTurn(this);
  }

  /** @internal */
  enter(turn: AnswerTurn): boolean {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    this.#waiting.add(turn);
    return false;
  }

  /** @internal */
  leave(turn: AnswerTurn, held: boolean): void {
    this.#waiting.delete(turn);
    if (!held) return;
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.begin();
  }
}

/** The turn of one answer. */
export class AnswerTurn {
  readonly #answers: LargeAnswers;
  #state: "small" | "waiting" | "reading" | "released" = "small";
  #onBegin: () => void = () => {};

  constructor(answers: LargeAnswers) {
    this.#answers = answers;
  }

  /** Whether the large answer may be read now. Otherwise `begin` is called later, when it may. */
  take(begin: () => void): boolean {
    this.#onBegin = begin;
    if (this.#state === "small") this.#state = this.#answers.enter(this) ? "reading" : "waiting";
    return this.#state !== "waiting";
  }

  /** @internal */
  begin(): void {
    this.#state = "reading";
    this.#onBegin();
  }

  /** The answer was decoded, or is not needed any more. */
  release(): void {
    const held = this.#state === "reading";
    this.#state = "released";
    this.#answers.leave(this, held);
  }
}
