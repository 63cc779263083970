// Since when a reflector has had no useful watch. A watch that is accepted and closed at once, without any event,
// does not end a disconnection.
import type { Clock } from "../time/clock.ts";

// A watch that has ended by its time limit is open again within this time, or it counts as disconnected.
const ROTATION_MS = 1000;
/** A watch that ends sooner is followed by a wait, and by a list if it brought no event. */
export const VERY_SHORT_MS = 1000;

export class Disconnection {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When the last watch ended. Undefined while one is open. */
  #endedAt: number | undefined;
  #endedBadly = true;
  /** For the open watch, until it proves useful: the previous `endedAt`, and when the watch was opened. */
  #unconfirmed: { readonly endedAt: number | undefined; readonly openedAt: number } | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#endedAt = clock.monotonic();
  }

  /** Monotonic time since which no watch has been open from a known version. Undefined while one is open. */
  get sinceMs(): number | undefined {
    const since = this.#endedAt;
    const rotates = since !== undefined && !this.#endedBadly;
    return rotates && this.#clock.monotonic() - since < ROTATION_MS ? undefined : since;
  }

  opened(): void {
    this.#unconfirmed = { endedAt: this.#endedAt, openedAt: this.#clock.monotonic() };
    this.#endedAt = undefined;
    this.#endedBadly = false;
  }

  /** The open watch is useful: it has brought an event or a list. */
  confirmed(): void {
    this.#unconfirmed = undefined;
  }

  /** `badly`: there is a wait before the next attempt. */
  ended(badly: boolean): void {
    const now = this.#clock.monotonic();
    const { endedAt, openedAt } = this.#unconfirmed ?? { endedAt: undefined, openedAt: 0 };
    this.#unconfirmed = undefined;
    this.#endedAt ??= now - openedAt < VERY_SHORT_MS ? (endedAt ?? now) : now;
    this.#endedBadly ||= badly;
  }
}
