// Reads one object by GET, repeatedly, for an account that may read it but may neither list nor watch it. A
// Role in a namespace can grant the GET of that Namespace, but no list or watch of Namespaces.
// Promises: an object is absent only if the API server itself reports that. A list is due again after 1, 2, 4, 8
// and 16 reads, then after 20. So a right that is granted later is used within ten minutes, and a missing one
// costs no more than one refused request in that time.
import { ApiError } from "../rest/api-error.ts";
import { isKubeObject, resourcePath } from "../rest/resource.ts";
import type { KubeObject } from "../rest/resource.ts";
import { sleep } from "../time/clock.ts";
import type { ReflectorOptions, SingleObject } from "./informer-options.ts";

const EVERY_MS = 30_000;
/** The shortest time between two reads. */
const SOON_MS = 5000;
const TIMEOUT_MS = 30_000;
const MOST_READS = 20;

type ReadOptions = Pick<ReflectorOptions<never>, "client" | "clock" | "scope">;

export class SingleReads {
  readonly #options: ReadOptions;
  readonly #single: SingleObject;
  #due = false;
  #active = false;
  /** Reads until a list is due. */
  #reads = 1;
  #waiting = new AbortController();
  #readAt = Number.NEGATIVE_INFINITY;
  #listNext = false;

  constructor(options: ReadOptions, single: SingleObject) {
    this.#options = options;
    this.#single = single;
  }

  /** The next request is a read, not a list. */
  get due(): boolean {
    return this.#due;
  }

  /** The last request was refused. Returns whether it was a list or watch, so that reads are due. */
  refused(): boolean {
    this.#due = !this.#due;
    return this.#due;
  }

  /** A watch was opened. */
  watched(): void {
    this.#reads = 1;
    this.#set(false);
  }

  /** The next request is a list, and is sent at once. */
  listAgain(): void {
    this.#listNext = true;
    this.#waiting.abort();
  }

  /** The object has probably changed. Reads it at once, unless it was read in the last five seconds. */
  readSoon(): void {
    if (this.#options.clock.monotonic() - this.#readAt >= SOON_MS) this.#waiting.abort();
  }

  /**
   * Calls `onRead` after each read, with the object or undefined, until a list is due or `signal` aborts.
   * Rejects when a read fails.
   */
  async run(
    signal: AbortSignal,
    onRead: (object: KubeObject | undefined) => Promise<void>,
  ): Promise<void> {
    const { clock } = this.#options;
    this.#listNext = false;
    for (let read = 0; read < this.#reads && !this.#listNext; read++) {
      const object = await this.#read(signal);
      if (signal.aborted) return;
      this.#readAt = clock.monotonic();
      this.#set(true);
      await onRead(object);
      this.#waiting = new AbortController();
      const until = AbortSignal.any([signal, this.#waiting.signal]);
      await sleep(clock, EVERY_MS * (0.9 + 0.2 * clock.random()), until);
      if (signal.aborted) return;
    }
    this.#due = false;
    this.#reads = Math.min(2 * this.#reads, MOST_READS);
  }

  async #read(signal: AbortSignal): Promise<KubeObject | undefined> {
    const { client, scope } = this.#options;
    const { resource, namespace } = scope;
    const { name } = this.#single;
    const what = `get ${resource.kind.toLowerCase()} ${name}`;
    try {
      const path = resourcePath(resource, namespace, name);
      const read = { method: "GET", path, what, signal, timeoutMs: TIMEOUT_MS } as const;
      const object = await client.request<unknown>(read);
      if (isKubeObject(object) && object.kind === resource.kind && object.metadata.name === name)
        return object;
    } catch (error) {
      const known = error instanceof ApiError ? error.knownMessage : undefined;
      // Any other 404 may come from a proxy.
      if (known?.kind === "notFound" && known.resource === resource.plural && known.name === name)
        return undefined;
      throw error;
    }
    const note = `it is not the ${resource.kind}`;
    throw new ApiError(what, { kind: "malformed", status: 200, reason: "NotTheObject", note });
  }

  #set(active: boolean): void {
    if (active === this.#active) return;
    this.#active = active;
    this.#single.onReads?.(active);
  }
}
