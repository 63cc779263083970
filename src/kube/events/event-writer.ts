// Sends Events to the API server, one after the other, behind everybody's back.
// Promises: push() never waits; Warnings and Normal Events wait in a queue each and take turns, so that
// neither kind keeps the other back; so do the namespaces of each queue; what does not fit into a queue
// is dropped and told, of the namespace with the most; an
// answer of the server is final, no answer is tried again, and so is a 429 after the wait that it asks
// for, which all others share. Does not promise that an Event arrives.
import type { Clock } from "../time/clock.ts";
import type { EventSeries, KubeEvent } from "./event-record.ts";
import { FairQueue } from "./fair-queue.ts";
import { Reachability } from "../rest/reachability.ts";
import { withTimeout } from "../time/deadline.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { EVENTS, resourcePath } from "../rest/resource.ts";

/**
 * The API calls needed. They reject with an error that carries the HTTP `status` (0 or absent: no
 * answer) and a `kind`, of which notFound, alreadyExists, terminating and cancelled are reported apart.
 */
export type EventClient = {
  create(event: KubeEvent, signal: AbortSignal): Promise<unknown>;
  patchSeries(event: KubeEvent, series: EventSeries, signal: AbortSignal): Promise<unknown>;
};

export type EventWrite =
  | { readonly kind: "create"; readonly event: KubeEvent }
  /** `again` is created when the Event no longer exists by now. */
  | { readonly kind: "series"; readonly event: KubeEvent; readonly again: KubeEvent };

/** Why an Event will not be seen. */
export type DropReason = "queue full" | "refused" | "unreachable" | "closed";

export type EventWriterOptions = {
  readonly client: EventClient;
  readonly clock: Clock;
  readonly reachability?: Reachability | undefined;
  /** Events of each type waiting at most; 1000 as client-go. */
  readonly queueSize?: number;
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
  #turn: KubeEvent["type"] = "Warning";
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

  /** Takes nothing more, tries what is queued once, and ends within `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing.abort();
    const timer = this.#clock.setTimeout(() => this.#closed.abort(), timeoutMs);
    await this.#running;
    timer.cancel();
  }

  async #run(): Promise<void> {
    // The caller goes on first.
    await Promise.resolve();
    for (let write = this.#next(); write; write = this.#next()) await this.#attempt(write);
    this.#running = undefined;
  }

  #next(): EventWrite | undefined {
    const turn = this.#turn;
    const other = turn === "Warning" ? "Normal" : "Warning";
    this.#turn = other;
    return this.#queues[turn].shift() ?? this.#queues[other].shift();
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

/** Sent before and only the answer was lost, or nothing new may come into the namespace. */
function isQuiet(error: unknown): boolean {
  const kind = field(error, "kind");
  return kind === "alreadyExists" || kind === "terminating";
}

function isAnswer(error: unknown): boolean {
  return Number(field(error, "status") ?? 0) > 0;
}

/** For how long a 429 asks to be left alone, in ms. */
function askedMs(error: unknown): number | undefined {
  const asked = Number(field(error, "retryAfterMs"));
  return field(error, "kind") === "throttled" && asked > 0 ? asked : undefined;
}

function field(error: unknown, name: "kind" | "status" | "retryAfterMs"): unknown {
  return typeof error === "object" && error !== null && name in error
    ? (error as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** By the API client; nobody waits for an Event, so its timeouts are the client's. */
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
