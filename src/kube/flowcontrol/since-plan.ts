// What has happened since a plan was begun, which therefore does not know of it: writes were started, and events
// have changed objects.
import type { PooledWrite } from "./pooled-write.ts";

export class SincePlan<B> {
  /** A plan is being computed. */
  #planning = false;
  /**
   * Since the last mark: the keys of started writes, and the keys that events touched with their earlier
   * objects.
   */
  #startedSince = new Set<string>();
  #touchedSince = new Map<string, B | undefined>();
  /** The same since the start of the plan whose writes wait. */
  #startedBy = this.#startedSince;
  #touchedBy = this.#touchedSince;

  get isPlanning(): boolean {
    return this.#planning;
  }

  /** The keys that events touched since the start of the plan whose writes wait. */
  get touched(): ReadonlyMap<string, B | undefined> {
    return this.#touchedBy;
  }

  /** The computation of a plan begins. */
  mark(): void {
    this.#planning = true;
    this.#startedSince = new Set();
    this.#touchedSince = new Map();
  }

  /** The writes of the plan that was begun at the last mark wait from now on. */
  planned(): void {
    this.#planning = false;
    this.#startedBy = this.#startedSince;
    this.#touchedBy = this.#touchedSince;
  }

  start(key: string): void {
    this.#startedSince.add(key);
    this.#startedBy.add(key);
  }

  /** `before`: the object before the event. If it is unknown, undefined replaces an earlier value. */
  touch(key: string, before: B | undefined): void {
    for (const touched of new Set([this.#touchedSince, this.#touchedBy]))
      if (before === undefined || !touched.has(key)) touched.set(key, before);
  }

  hasStarted(key: string): boolean {
    return this.#startedBy.has(key);
  }

  /** Whether an event has changed the write's object, its source or its namespace. */
  hasTouched({ key, namespace = "", source = "" }: PooledWrite): boolean {
    const touched = this.#touchedBy;
    return touched.has(key) || touched.has(source) || touched.has(namespace);
  }
}
