// Server-sent events of the status page. The whole answer is sent whenever it has changed, at most twice a
// second for each reader and never faster than that reader takes it. Between them a tick with the server's time
// is sent, so that both sides notice a dead connection.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { sleep, type Clock } from "../../packages/kube/time/clock.ts";
import type { StatusFeed } from "./status-feed.ts";
import type { Filter } from "./filter.ts";

// Many forgotten tabs must not keep the controller from its work.
const MOST_READERS = 32;
const PAUSE_MS = 500;
const TICK_MS = 5000;
// Half a million places that are not current take a third of a second to read. The distance limits reading to
// a sixth of the time.
const DISTANCE = 5;

export class EventStream {
  readonly #statusFeed: StatusFeed;
  readonly #clock: Clock;
  #readers = 0;

  constructor(statusFeed: StatusFeed, clock: Clock) {
    this.#statusFeed = statusFeed;
    this.#clock = clock;
  }

  /** Whether no further reader is accepted. */
  get full(): boolean {
    return this.#readers >= MOST_READERS;
  }

  /** Resolves when the reader has disconnected. */
  async serve(response: ServerResponse, filter: Filter): Promise<void> {
    const gone = new AbortController();
    const { signal } = gone;
    response.once("close", () => gone.abort());
    response.on("error", () => gone.abort());
    response.setHeader("Content-Type", "text/event-stream");
    response.flushHeaders();
    this.#readers++;
    try {
      await this.#follow(response, filter, signal);
    } finally {
      this.#readers--;
      response.end();
    }
  }

  async #follow(response: ServerResponse, filter: Filter, signal: AbortSignal): Promise<void> {
    let sent = "";
    while (!signal.aborted) {
      // Called before the read, so that changes during the read are not missed.
      const next = this.#statusFeed.next(TICK_MS, signal);
      const asked = this.#clock.monotonic();
      const text = JSON.stringify(await this.#statusFeed.read(filter));
      const pause = Math.max(PAUSE_MS, DISTANCE * (this.#clock.monotonic() - asked));
      if (text !== sent) await send(response, "status", text, signal);
      sent = text;
      await send(response, "tick", String(this.#clock.now()), signal);
      await Promise.all([next, sleep(this.#clock, pause, signal)]);
    }
  }
}

async function send(
  response: ServerResponse,
  event: string,
  data: string,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted || response.write(`event: ${event}\ndata: ${data}\n\n`)) return;
  await once(response, "drain", { signal }).catch(() => undefined);
}
