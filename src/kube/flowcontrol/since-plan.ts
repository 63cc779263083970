// What has happened since a plan was begun, which therefore does not know of it: writes were started, and events
// have changed objects.
import type { PooledWrite } from "./pooled-write.ts";

export class SincePlan<B> {
  /** A plan is being computed. */
  #planning = false;
  /**
   * Since the last beginPlan: the keys of started writes, and the keys that events changed with their earlier
   * objects.
   */
  #startedSince = new Set<string>();
  #changedSince = new Map<string, B | undefined>();
  /** The same since the start of the plan whose writes wait. */
  #startedBy = this.#startedSince;
  #changedBy = this.#changedSince;

  get isPlanning(): boolean {
    return this.#planning;
  }

  /** The keys that events changed since the start of the plan whose writes wait. */
  get changed(): ReadonlyMap<string, B | undefined> {
    return this.#changedBy;
  }

  /** The computation of a plan begins. */
  beginPlan(): void {
    this.#planning = true;
    this.#startedSince = new Set();
    this.#changedSince = new Map();
  }

  /** The writes of the plan that was begun last wait from now on. */
  planned(): void {
    this.#planning = false;
    this.#startedBy = this.#startedSince;
    this.#changedBy = this.#changedSince;
  }

  start(key: string): void {
    this.#startedSince.add(key);
    this.#startedBy.add(key);
  }

  /** `before`: the object before the event. If it is unknown, undefined replaces an earlier value. */
  invalidate(key: string, before: B | undefined): void {
    for (const changed of new Set([this.#changedSince, this.#changedBy]))
      if (before === undefined || !changed.has(key)) changed.set(key, before);
  }

  hasStarted(key: string): boolean {
    return this.#startedBy.has(key);
  }

  /** Whether an event has changed the write's object, its source or its namespace. */
  hasChanged({ key, namespace = "", source = "" }: PooledWrite): boolean {
    const changed = this.#changedBy;
    return changed.has(key) || changed.has(source) || changed.has(namespace);
  }
}
