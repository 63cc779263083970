// The writes of a plan that have not started, in its order. Some are blocked: they wait for others of their kind to
// end, by the limit that they wait for.
import type { PooledWrite } from "./pooled-write.ts";

/** Whether a write may start: the limit that prevents it, no room for any write, or it is outdated. */
export type Fit = "may start" | "no room" | "dropped" | { readonly limit: string };

type BlockedWrites<W> = { readonly writes: W[]; next: number };

// Sources take turns in a plan, so a second one appears near its beginning.
const FIRST_OF_A_PLAN = 64;

export class WaitingWrites<W extends PooledWrite> {
  readonly #writes: readonly W[];
  #next = 0;
  readonly #blocked = new Map<string, BlockedWrites<W>>();
  #blockedCount = 0;
  /** Limits that a blocked write may meet again. */
  readonly #unblocked = new Set<string>();

  constructor(writes: readonly W[]) {
    this.#writes = writes;
  }

  get size(): number {
    return this.#writes.length - this.#next + this.#blockedCount;
  }

  get haveSeveralSources(): boolean {
    const [first] = this.#writes;
    return this.#writes.slice(0, FIRST_OF_A_PLAN).some(({ source }) => source !== first?.source);
  }

  /** Whether some write waits for nothing but room. */
  get anyReady(): boolean {
    return this.#next < this.#writes.length || this.#unblocked.size > 0;
  }

  isAnyBlocked(limit: string): boolean {
    return this.#blocked.has(limit);
  }

  /** Writes that waited for this limit are tried again. */
  unblock(limit: string): void {
    if (this.#blocked.has(limit)) this.#unblocked.add(limit);
  }

  unblockAll(): void {
    for (const limit of this.#blocked.keys()) this.#unblocked.add(limit);
  }

  /** The next write that may start. Those that waited for their own kind come first, as they did in the plan. */
  take(fitOf: (write: W) => Fit): W | undefined {
    for (const limit of this.#unblocked) {
      const blocked = this.#blocked.get(limit);
      const taken = blocked && this.#takeFrom(blocked, limit, fitOf);
      if (taken === "no room") return undefined;
      if (taken) return taken;
      this.#unblocked.delete(limit);
    }
    for (let write = this.#writes[this.#next]; write; write = this.#writes[this.#next]) {
      const fit = fitOf(write);
      if (fit === "no room") return undefined;
      this.#next++;
      if (fit === "may start") return write;
      this.#block(write, fit);
    }
    return undefined;
  }

  #takeFrom(
    blocked: BlockedWrites<W>,
    own: string,
    fitOf: (write: W) => Fit,
  ): W | "no room" | undefined {
    for (let write = blocked.writes[blocked.next]; write; write = blocked.writes[blocked.next]) {
      const fit = fitOf(write);
      if (fit === "no room") return fit;
      if (typeof fit === "object" && fit.limit === own) return undefined;
      blocked.next++;
      this.#blockedCount--;
      if (fit === "may start") return write;
      this.#block(write, fit);
    }
    return undefined;
  }

  // An outdated write is forgotten.
  #block(write: W, fit: Exclude<Fit, "may start" | "no room">): void {
    if (fit === "dropped") return;
    this.#blockedCount++;
    const blocked = this.#blocked.get(fit.limit);
    if (blocked) blocked.writes.push(write);
    else this.#blocked.set(fit.limit, { writes: [write], next: 0 });
  }
}
