// Resends Warnings that could not be sent, as long as the state that they report holds. Normal Events are sent
// once. Promises: it holds one Event per state that holds, and sends a bounded number at a time.

/** The limit per call, because all of them are converted to JSON in one turn of the event loop. */
const MOST_RESENT = 200;

/** Identifies an Event. */
export type EventIdentity = {
  readonly uid: string;
  readonly reason: string;
  readonly note: string;
};

type TypedEvent = EventIdentity & { readonly type: "Normal" | "Warning" };

export class EventOutbox<E extends TypedEvent> {
  readonly #send: (event: E) => void;
  /** Warnings whose states hold. */
  #standing = new Map<string, E>();
  readonly #unsent = new Set<string>();

  constructor(send: (event: E) => void) {
    this.#send = send;
  }

  send(event: E): void {
    if (event.type === "Warning") this.#standing.set(idOf(event), event);
    this.#send(event);
  }

  /** Exactly these states hold. */
  keep(events: Iterable<E>): void {
    this.#standing = new Map(Array.from(events, (event) => [idOf(event), event]));
    for (const id of this.#unsent) if (!this.#standing.has(id)) this.#unsent.delete(id);
  }

  /** An Event was not sent, because of a limit or a failed request. */
  lost(event: EventIdentity): void {
    const id = idOf(event);
    if (this.#standing.has(id)) this.#unsent.add(id);
  }

  get waits(): boolean {
    return this.#unsent.size > 0;
  }

  resend(): void {
    // An Event that is lost again during this loop waits behind the others.
    for (const id of [...this.#unsent].slice(0, MOST_RESENT)) {
      this.#unsent.delete(id);
      const event = this.#standing.get(id);
      if (event) this.#send(event);
    }
  }
}

function idOf({ uid, reason, note }: EventIdentity): string {
  return `${uid} ${reason} ${note}`;
}
