// Which failed writes a user wants to be tried at once: those whose source, pulling object or Namespace was
// changed. Promises: a place is tried early at most once in ten seconds, so that an object that changes without
// a pause does not turn back-off off. Memory is bounded by the number of failing sources and namespaces.

import type { PlaceBackoff } from "./backoff.ts";

const DISTANCE_MS = 10_000;

export class EarlyTries {
  /** Sources of failed writes. Each text is in memory once. */
  #sources = new Map<string, string>();
  /** Failing sources, objects at failing places, and namespaces that were changed since the last plan began. */
  readonly #changed = new Set<string>();

  /** A write of this source failed. The text to remember it by. */
  failed(source: string): string {
    const known = this.#sources.get(source);
    if (known === undefined) this.#sources.set(source, source);
    return known ?? source;
  }

  /** Notes a changed object. `failed`: a write failed at its place. Returns whether a write is tried sooner. */
  objectChanged(object: string, failed: boolean): boolean {
    if (!failed && !this.#sources.has(object)) return false;
    this.#changed.add(object);
    return true;
  }

  namespaceChanged(name: string): void {
    if (this.#sources.size > 0) this.#changed.add(name);
  }

  /** Failed writes whose wait is over earlier now, each with its new times. */
  *due(
    writes: Iterable<readonly [place: string, write: PlaceBackoff]>,
    now: number,
  ): Generator<readonly [place: string, write: PlaceBackoff]> {
    if (this.#changed.size === 0) return;
    for (const [place, write] of writes) {
      const { kind, error, source, until, earlyAt } = write;
      // Throttled ones wait as long as the API server asked.
      if (kind !== "failed" || error === "throttled" || source === undefined) continue;
      const namespace = place.slice(0, place.indexOf("/"));
      const isChanged = [source, place, namespace].some((key) => this.#changed.has(key));
      const at = Math.max(now, (earlyAt ?? Number.NEGATIVE_INFINITY) + DISTANCE_MS);
      if (isChanged && at < until) yield [place, { ...write, until: at, earlyAt: at }];
    }
    this.#changed.clear();
  }

  /** Only these writes still fail. */
  keep(writes: Iterable<PlaceBackoff>): void {
    this.#sources = new Map();
    for (const { source } of writes) if (source !== undefined) this.#sources.set(source, source);
  }
}
