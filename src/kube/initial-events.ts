// The first part of a streaming list: objects kept apart from the store until the server marks the
// end, within a bound. Old servers ignore the request for initial events and would stream live
// changes for ever; they bring few objects, so the bound moves on only while many come.
import type { Clock, Timer } from "./clock.ts";
import type { KubeObject } from "./resource.ts";
import type { LiveEvent } from "./watch.ts";

// How long the end mark may take, and again each time as many objects came within it.
const MARK_TIMEOUT_MS = 30_000;
const PROGRESS_OBJECTS = 1000;

export class InitialEvents<T> {
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #transform: (raw: KubeObject) => T | undefined;
  readonly #objects = new Map<string, T>();
  #timer: Timer | undefined;
  #events = 0;
  #done = false;
  #timedOut = false;

  constructor(clock: Clock, parent: AbortSignal, transform: (raw: KubeObject) => T | undefined) {
    this.#clock = clock;
    this.#parent = parent;
    this.#transform = transform;
    if (parent.aborted) this.#controller.abort();
    else parent.addEventListener("abort", this.#abort, { once: true });
  }

  /** The server has accepted the request: the bound counts from here. */
  opened(): void {
    this.#timer ??= this.#arm();
  }

  /** For the stream: aborts with the parent, or when the bound is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The end mark has come and the objects were taken. */
  get done(): boolean {
    return this.#done;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Keeps what the event brings. The version of everything kept, when the event is the end mark. */
  take(event: LiveEvent): string | undefined {
    if (event.kind === "bookmark") return event.initialEnd ? event.resourceVersion : undefined;
    this.#events++;
    const { namespace = "", name } = event.object.metadata;
    const object = event.kind === "set" ? this.#transform(event.object) : undefined;
    if (object === undefined) this.#objects.delete(`${namespace}/${name}`);
    else this.#objects.set(`${namespace}/${name}`, object);
    return undefined;
  }

  finish(): readonly T[] {
    this.#done = true;
    this.#timer?.cancel();
    const objects = [...this.#objects.values()];
    this.#objects.clear();
    return objects;
  }

  release(): void {
    this.#timer?.cancel();
    this.#parent.removeEventListener("abort", this.#abort);
  }

  #arm(): Timer {
    const before = this.#events;
    return this.#clock.setTimeout(() => {
      if (this.#events - before >= PROGRESS_OBJECTS) {
        this.#timer = this.#arm();
        return;
      }
      this.#timedOut = true;
      this.#controller.abort();
    }, MARK_TIMEOUT_MS);
  }

  readonly #abort = (): void => this.#controller.abort();
}
