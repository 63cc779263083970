// The first part of a streaming list. Objects are kept apart from the store until the server sends the end
// mark, within a time limit. Old servers ignore the request for initial events and would stream live changes
// for ever. They send little, so the limit is extended only while many objects or many bytes arrive.
import { errorKindOf } from "./reconnect.ts";
import type { Clock, Timer } from "../time/clock.ts";
import type { KubeObject } from "../rest/resource.ts";
import type { LiveEvent } from "./watch.ts";

// How long the end mark may take. The limit starts again each time that many objects or bytes arrived within
// it. A server that always streams that much is stopped by the watch's own time limit. It is listed in pages
// the second time.
const MARK_TIMEOUT_MS = 30_000;
const PROGRESS_OBJECTS = 1000;
const PROGRESS_BYTES = 8 * 1024 * 1024;

/** The query of a streaming list. */
export const STREAMING_LIST: Readonly<Record<string, string | boolean>> = {
  sendInitialEvents: true,
  resourceVersionMatch: "NotOlderThan",
};

export class InitialEvents<T> {
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #transform: (raw: KubeObject) => T | undefined;
  /** By namespace and name. A combined string key for each object would take as much memory as the object. */
  readonly #objects = new Map<string, Map<string, T>>();
  #timer: Timer | undefined;
  #events = 0;
  #bytes = 0;
  #done = false;
  #timedOut = false;

  constructor(clock: Clock, parent: AbortSignal, transform: (raw: KubeObject) => T | undefined) {
    this.#clock = clock;
    this.#parent = parent;
    this.#transform = transform;
    if (parent.aborted) this.#controller.abort();
    else parent.addEventListener("abort", this.#abort, { once: true });
  }

  /** The server has accepted the request. The time limit starts here. */
  opened(): void {
    this.#timer ??= this.#arm();
  }

  /** `bytes` of the stream arrived. */
  received(bytes: number): void {
    this.#bytes += bytes;
  }

  /** For the stream: aborts with the parent, or when the time limit is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The end mark has arrived and the objects were taken. */
  get done(): boolean {
    return this.#done;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Keeps the object of the event. Returns the version of everything kept when the event is the end mark. */
  take(event: LiveEvent): string | undefined {
    if (event.kind === "bookmark") return event.initialEnd ? event.resourceVersion : undefined;
    this.#events++;
    const { namespace = "", name } = event.object.metadata;
    const object = event.kind === "set" ? this.#transform(event.object) : undefined;
    const objects = this.#objects.get(namespace) ?? new Map<string, T>();
    if (object === undefined) objects.delete(name);
    else this.#objects.set(namespace, objects.set(name, object));
    return undefined;
  }

  finish(): readonly T[] {
    this.#done = true;
    this.#timer?.cancel();
    const all: T[] = [];
    for (const [namespace, objects] of this.#objects) {
      for (const object of objects.values()) all.push(object);
      this.#objects.delete(namespace);
    }
    return all;
  }

  release(): void {
    this.#timer?.cancel();
    this.#parent.removeEventListener("abort", this.#abort);
  }

  #arm(): Timer {
    const [events, bytes] = [this.#events, this.#bytes];
    return this.#clock.setTimeout(() => {
      const progress =
        this.#events - events >= PROGRESS_OBJECTS || this.#bytes - bytes >= PROGRESS_BYTES;
      if (progress) {
        this.#timer = this.#arm();
        return;
      }
      this.#timedOut = true;
      this.#controller.abort();
    }, MARK_TIMEOUT_MS);
  }

  readonly #abort = (): void => this.#controller.abort();
}

/** Whether a server supports streaming lists. */
export class StreamSupport {
  #refused = false;
  #failed = 0;

  /** After two failures a list in pages comes first. */
  get worthTrying(): boolean {
    return !this.#refused && this.#failed < 2;
  }

  /** A list in pages was sent. */
  listed(): void {
    this.#failed = 0;
  }

  /** Whether the failure of a stream shows that the server streams no lists. It is then not asked again. */
  isRefused(error: unknown, timedOut: boolean): boolean {
    const kind = errorKindOf(error);
    if (timedOut || kind === "badRequest" || kind === "invalid") this.#refused = true;
    else if (kind !== "throttled") this.#failed++;
    return this.#refused;
  }
}
