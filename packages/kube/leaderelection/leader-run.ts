// The work of a leader, from its start until its end is known.
// Promises: a cancel reaches the work by its signal. `over` aborts once the work has ended after a cancel, or
// has failed. Work that rejects with its signal's own reason did not fail.
// Does not promise to stop the work: if work ignores its signal, it continues, and `over` never aborts.

export class LeaderRun {
  readonly #signal: AbortSignal;
  readonly #cancelled: AbortSignal;
  readonly #controller = new AbortController();
  readonly #over = new AbortController();
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(cancelled: AbortSignal, start: (signal: AbortSignal) => Promise<void>) {
    this.#cancelled = cancelled;
    this.#signal = this.#controller.signal;
    cancelled.addEventListener("abort", this.#cancel, { once: true });
    void this.#run(start);
  }

  /** Aborts when the work ended after a cancel, or failed. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  dispose(): void {
    this.#cancelled.removeEventListener("abort", this.#cancel);
  }

  async #run(start: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await start(this.#signal);
    } catch (error) {
      // Work that rejects with the signal's reason was cancelled.
      if (!this.#signal.aborted || !isAbort(error, this.#signal)) this.#failure = { error };
    }
    this.#ended = true;
    if (this.#cancelled.aborted || this.#failure) this.#over.abort();
  }

  readonly #cancel = (): void => {
    this.#controller.abort(this.#cancelled.reason);
    if (this.#ended) this.#over.abort();
  };
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}
