// The writes of a plan that have not started, in its order. Some are parked: they wait for others of their kind to
// end, by the limit that they wait for.
import type { PooledWrite } from "./pooled-write.ts";

/** Whether a write may start: the limit that prevents it, no room for any write, or it is outdated. */
export type Fit = "may start" | "no room" | "dropped" | { readonly bound: string };

type Parked<W> = { readonly writes: W[]; next: number };

// Sources take turns in a plan, so a second one appears near its beginning.
const FIRST_OF_A_PLAN = 64;

export class WaitingWrites<W extends PooledWrite> {
  readonly #writes: readonly W[];
  #next = 0;
  readonly #parked = new Map<string, Parked<W>>();
  #parkedCount = 0;
  /** Limits that a parked write may meet again. */
  readonly #freed = new Set<string>();

  constructor(writes: readonly W[]) {
    this.#writes = writes;
  }

  get size(): number {
    return this.#writes.length - this.#next + this.#parkedCount;
  }

  get haveSeveralSources(): boolean {
    const [first] = this.#writes;
    return this.#writes.slice(0, FIRST_OF_A_PLAN).some(({ source }) => source !== first?.source);
  }

  /** Whether some write waits for nothing but room. */
  get anyReady(): boolean {
    return this.#next < this.#writes.length || this.#freed.size > 0;
  }

  isAnyParked(bound: string): boolean {
    return this.#parked.has(bound);
  }

  /** Writes that waited for this limit are tried again. */
  free(bound: string): void {
    if (this.#parked.has(bound)) this.#freed.add(bound);
  }

  freeAll(): void {
    for (const bound of this.#parked.keys()) this.#freed.add(bound);
  }

  /** The next write that may start. Those that waited for their own kind come first, as they did in the plan. */
  take(fitOf: (write: W) => Fit): W | undefined {
    for (const bound of this.#freed) {
      const parked = this.#parked.get(bound);
      const taken = parked && this.#takeFrom(parked, bound, fitOf);
      if (taken === "no room") return undefined;
      if (taken) return taken;
      this.#freed.delete(bound);
    }
    for (let write = this.#writes[this.#next]; write; write = this.#writes[this.#next]) {
      const fit = fitOf(write);
      if (fit === "no room") return undefined;
      this.#next++;
      if (fit === "may start") return write;
      this.#park(write, fit);
    }
    return undefined;
  }

  #takeFrom(parked: Parked<W>, own: string, fitOf: (write: W) => Fit): W | "no room" | undefined {
    for (let write = parked.writes[parked.next]; write; write = parked.writes[parked.next]) {
      const fit = fitOf(write);
      if (fit === "no room") return fit;
      if (typeof fit === "object" && fit.bound === own) return undefined;
      parked.next++;
      this.#parkedCount--;
      if (fit === "may start") return write;
      this.#park(write, fit);
    }
    return undefined;
  }

  // An outdated write is forgotten.
  #park(write: W, fit: Exclude<Fit, "may start" | "no room">): void {
    if (fit === "dropped") return;
    this.#parkedCount++;
    const parked = this.#parked.get(fit.bound);
    if (parked) parked.writes.push(write);
    else this.#parked.set(fit.bound, { writes: [write], next: 0 });
  }
}
