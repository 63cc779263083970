// Sends Events to the API server in the background, one after the other.
// Promises: push() never waits. Warnings and Normal Events have a queue each and take turns, so that neither
// type delays the other. The namespaces of each queue take turns too. If a queue is full, an Event of the
// namespace with the most is dropped and reported. An answer of the server is final and is not retried. That
// includes a 429, after the wait that it asks for. All Events share that wait.
// Does not promise that an Event arrives.
import type { Clock } from "../time/clock.ts";
import type { EventSeries, KubeEvent } from "./event-record.ts";
import { FairQueue } from "./fair-queue.ts";
import { Reachability } from "../rest/reachability.ts";
import { withTimeout } from "../time/deadline.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { EVENTS, resourcePath } from "../rest/resource.ts";

/**
 * The API calls needed. They reject with an error that has the HTTP `status` (0 or absent: no answer) and a
 * `kind`. The kinds notFound, alreadyExists, terminating and cancelled are reported separately.
 */
export type EventClient = {
  create(event: KubeEvent, signal: AbortSignal): Promise<unknown>;
  patchSeries(event: KubeEvent, series: EventSeries, signal: AbortSignal): Promise<unknown>;
};

export type EventWrite =
  | { readonly kind: "create"; readonly event: KubeEvent }
  /** `again` is created when the Event no longer exists. */
  | { readonly kind: "series"; readonly event: KubeEvent; readonly again: KubeEvent };

/** Why an Event is lost. */
export type DropReason = "queue full" | "refused" | "unreachable" | "closed";

export type EventWriterOptions = {
  readonly client: EventClient;
  readonly clock: Clock;
  readonly reachability?: Reachability | undefined;
  /** Maximum queued Events of each type. 1000 as in client-go. */
  readonly queueSize?: number | undefined;
  readonly onDrop: (reason: DropReason, error: unknown, write: EventWrite) => void;
};

// client-go: tools/record, maxTriesPerEvent and defaultSleepDuration.
const TRIES = 12;
const RETRY_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #clock: Clock;
  readonly #reachability: Reachability;
  readonly #queues: Readonly<Record<KubeEvent["type"], FairQueue<EventWrite>>>;
  #nextType: KubeEvent["type"] = "Warning";
  readonly #closing = new AbortController();
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#clock = options.clock;
    const size = options.queueSize ?? 1000;
    this.#queues = { Warning: new FairQueue(size), Normal: new FairQueue(size) };
    this.#reachability = options.reachability ?? new Reachability(options.clock);
  }

  push(write: EventWrite): void {
    if (this.#closing.signal.aborted) return this.#options.onDrop("closed", undefined, write);
    const { type, metadata } = write.event;
    const dropped = this.#queues[type].push(metadata.namespace, write);
    if (dropped) this.#options.onDrop("queue full", undefined, dropped);
    this.#running ??= this.#run();
  }

  /** Accepts no further Events, tries each queued one once, and ends within `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing.abort();
    const timer = this.#clock.setTimeout(() => this.#closed.abort(), timeoutMs);
    await this.#running;
    timer.cancel();
  }

  async #run(): Promise<void> {
    // Lets the caller continue first.
    await Promise.resolve();
    for (let write = this.#next(); write; write = this.#next()) await this.#attempt(write);
    this.#running = undefined;
  }

  #next(): EventWrite | undefined {
    const next = this.#nextType;
    const other = next === "Warning" ? "Normal" : "Warning";
    this.#nextType = other;
    return this.#queues[next].shift() ?? this.#queues[other].shift();
  }

  async #attempt(write: EventWrite): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (this.#closed.signal.aborted) return this.#options.onDrop("closed", undefined, write);
      let wait = tries === 1 ? RETRY_MS * this.#clock.random() : RETRY_MS;
      try {
        return await this.#send(write);
      } catch (error) {
        if (isQuiet(error)) return;
        const refused = isAnswer(error) && askedMs(error) === undefined;
        if (refused) return this.#options.onDrop("refused", error, write);
        if (field(error, "kind") === "cancelled")
          return this.#options.onDrop("closed", error, write);
        if (tries === TRIES || this.#closing.signal.aborted)
          return this.#options.onDrop("unreachable", error, write);
        wait = askedMs(error) ?? wait;
      }
      await this.#reachability.sleep(wait, this.#closing.signal);
    }
  }

  async #send(write: EventWrite): Promise<void> {
    const { client } = this.#options;
    switch (write.kind) {
      case "create":
        await this.#bounded((signal) => client.create(write.event, signal));
        return;
      case "series": {
        const { series } = write.again;
        if (!series) return;
        try {
          await this.#bounded((signal) => client.patchSeries(write.event, series, signal));
        } catch (error) {
          if (field(error, "kind") !== "notFound") throw error;
          await this.#bounded((signal) => client.create(write.again, signal));
        }
      }
    }
  }

  #bounded<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withTimeout(this.#clock, REQUEST_TIMEOUT_MS, this.#closed.signal, run);
  }
}

/** The Event was sent before and only the answer was lost, or the namespace accepts no new objects. */
function isQuiet(error: unknown): boolean {
  const kind = field(error, "kind");
  return kind === "alreadyExists" || kind === "terminating";
}

function isAnswer(error: unknown): boolean {
  return Number(field(error, "status") ?? 0) > 0;
}

/** How long a 429 asks to wait, in ms. */
function askedMs(error: unknown): number | undefined {
  const asked = Number(field(error, "retryAfterMs"));
  return field(error, "kind") === "throttled" && asked > 0 ? asked : undefined;
}

function field(error: unknown, name: "kind" | "status" | "retryAfterMs"): unknown {
  return typeof error === "object" && error !== null && name in error
    ? (error as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Uses the API client with its timeouts, since no caller waits for an Event. */
export function createEventClient(api: ApiClient): EventClient {
  return {
    create(body, signal) {
      const { namespace, name } = body.metadata;
      const what = `create event ${namespace}/${name}`;
      const path = resourcePath(EVENTS, namespace);
      return api.request({ method: "POST", path, body, signal, what });
    },
    patchSeries(event, series, signal) {
      const { namespace, name } = event.metadata;
      return api.request({
        method: "PATCH",
        path: resourcePath(EVENTS, namespace, name),
        contentType: "application/merge-patch+json",
        body: { series },
        signal,
        what: `patch event ${namespace}/${name}`,
      });
    },
  };
}
