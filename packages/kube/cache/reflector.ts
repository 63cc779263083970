// Follows one resource until its signal aborts: a list, then a watch from the list's version, repeatedly.
// Promises: the sink receives a deletion only from the watch or from a complete, real list. So no object
// disappears while the server is away or sends invalid answers. After any failure there is a wait before the
// next list. An overloaded or absent server is watched again, not listed again. It ends only when its signal
// aborts, and then leaves no timer, socket or request.
//
// The first list is a stream (sendInitialEvents). Objects are kept apart as they arrive, until the server sends
// the end mark. A server that does not support this is detected once and listed in pages from then on.
import type { Access } from "./access.ts";
import { ApiError } from "../rest/api-error.ts";
import { Disconnection, VERY_SHORT_MS } from "./disconnection.ts";
import { History } from "./history.ts";
import { InitialEvents, STREAMING_LIST, StreamSupport } from "./initial-events.ts";
import { listAll } from "./list.ts";
import { Reconnect, errorKindOf, failedRound, type RoundEnd } from "./reconnect.ts";
import { describeScope } from "./list-scope.ts";
import type { ReflectorOptions } from "./informer-options.ts";
import { SingleReads } from "./single-reads.ts";
import { Silence } from "./silence.ts";
import { SHORTEST_WATCH_MS, watch, type LiveEvent } from "./watch.ts";

export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #reconnect: Reconnect;
  readonly #history: History;
  readonly #single: SingleReads | undefined;
  /** Undefined when a list is due. */
  #version: string | undefined;
  readonly #streams = new StreamSupport();
  readonly #silence: Silence;
  #lastActivity: number;
  #lastAttempt = 0;
  #reconnectAt: number | undefined;
  readonly #disconnection: Disconnection;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const { clock, single } = options;
    this.#reconnect = new Reconnect(options);
    this.#history = new History(options);
    this.#single = single && new SingleReads(options, single);
    this.#lastActivity = clock.monotonic();
    this.#disconnection = new Disconnection(clock);
    this.#silence = new Silence(clock);
  }

  // The informer has these getters too, and says what they mean.

  get lastActivityMs(): number {
    return this.#lastActivity;
  }

  get lastSignOfLifeMs(): number {
    return Math.max(this.#lastActivity, this.#lastAttempt);
  }

  relist(): void {
    this.#single?.listAgain();
    if (this.#version === undefined) return;
    if (this.#reconnectAt === undefined) this.#history.invalidate();
    else this.#version = undefined;
  }

  readSoon(): void {
    this.#single?.readSoon();
  }

  get access(): Access {
    return this.#reconnect.access;
  }

  get scheduledReconnect(): number | undefined {
    return this.#reconnectAt;
  }

  get disconnectedSinceMs(): number | undefined {
    return this.#disconnection.sinceMs;
  }

  /** Resolves after `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let end: RoundEnd | undefined;
      try {
        const round = (own: AbortSignal): Promise<RoundEnd | undefined> => this.#round(own);
        end = await this.#history.during(signal, this.#version, round);
      } catch (error) {
        end = this.#readsInstead(error) ? undefined : failedRound(error);
      }
      if (!signal.aborted && end) await this.#recover(end, signal);
    }
  }

  // Runs one list or watch. Returns undefined after a list in pages, because its watch follows at once.
  async #round(signal: AbortSignal): Promise<RoundEnd | undefined> {
    if (this.#single?.due) return this.#readSingly(this.#single, signal);
    if (this.#version !== undefined)
      return this.#watch({ resourceVersion: this.#version }, signal, (event) => this.#live(event));
    if (this.#streams.worthTrying) return this.#streamList(signal);
    return this.#pageList(signal);
  }

  async #streamList(signal: AbortSignal): Promise<RoundEnd | undefined> {
    const { clock, sink } = this.#options;
    const initial = new InitialEvents<T>(clock, signal, (raw) => sink.transform(raw));
    try {
      return await this.#watch(
        STREAMING_LIST,
        initial.signal,
        async (event) => {
          if (initial.done) return this.#live(event);
          const version = initial.take(event);
          if (version === undefined) return undefined;
          await this.#listed(initial.finish(), version);
          this.#connected();
          this.#single?.watched();
          this.#disconnection.confirmed();
        },
        { opened: () => initial.opened(), received: (bytes) => initial.received(bytes) },
      );
    } catch (error) {
      if (initial.done || signal.aborted) throw error;
      if (!this.#streams.isRefused(error, initial.timedOut)) throw error;
      this.#options.log?.debug(this.#fields({}), "the server streams no lists, listing in pages");
      return undefined;
    } finally {
      initial.release();
    }
  }

  async #pageList(signal: AbortSignal): Promise<undefined> {
    const { client, scope, sink } = this.#options;
    this.#streams.listed();
    let items: T[] = [];
    const version = await listAll({
      client,
      scope,
      signal,
      onRestart: () => (items = []),
      onPage: (page) => {
        this.#noteActivity();
        this.#reconnect.opened();
        for (const raw of page) {
          const item = sink.transform(raw);
          if (item !== undefined) items.push(item);
        }
      },
    });
    if (!signal.aborted) await this.#listed(items, version);
  }

  async #watch(
    query: Readonly<Record<string, string | boolean>>,
    signal: AbortSignal,
    onEvent: (event: LiveEvent) => void | Promise<void>,
    heard?: { opened(): void; received(bytes: number): void },
  ): Promise<RoundEnd> {
    const { client, scope, clock } = this.#options;
    const opened = clock.monotonic();
    let events = 0;
    await watch({
      client,
      clock,
      scope,
      query,
      signal,
      silence: this.#silence,
      onOpen: () => {
        this.#reconnect.opened();
        this.#history.opened();
        if (this.#version !== undefined) {
          this.#connected();
          this.#single?.watched();
        }
        heard?.opened();
      },
      onBytes: (bytes) => {
        this.#noteActivity();
        heard?.received(bytes);
      },
      onEvent: (event) => {
        events++;
        return onEvent(event);
      },
    });
    if (this.#version === undefined)
      throw new ApiError(`watch ${describeScope(scope)}`, {
        kind: "unavailable",
        status: 200,
        reason: "EndedBeforeTheEndMark",
      });
    if (clock.monotonic() - opened < SHORTEST_WATCH_MS) this.#history.suspect();
    if (clock.monotonic() - opened >= VERY_SHORT_MS)
      return { reason: "closed", wait: false, relist: false };
    return { reason: "short", wait: true, relist: events === 0 };
  }

  #live(event: LiveEvent): void {
    const { resourceVersion } = event.kind === "bookmark" ? event : event.object.metadata;
    this.#history.arrived(resourceVersion, this.#version);
    this.#disconnection.confirmed();
    if (event.kind === "bookmark" && !event.initialEnd) this.#silence.bookmarked();
    this.#options.sink.event(event);
    this.#reconnect.delivered();
    this.#version = resourceVersion;
  }

  async #listed(items: readonly T[], version: string): Promise<void> {
    await this.#options.sink.replace(items, version);
    this.#version = version;
  }

  // Only if a list or watch was refused. A refused read is a failure.
  #readsInstead(error: unknown): boolean {
    if (errorKindOf(error) !== "forbidden" || !this.#single?.refused()) return false;
    this.#version = undefined;
    return true;
  }

  async #readSingly(reads: SingleReads, signal: AbortSignal): Promise<undefined> {
    const { sink } = this.#options;
    await reads.run(signal, async (raw) => {
      this.#noteActivity();
      this.#reconnect.opened();
      const item = raw && sink.transform(raw);
      // The answer is newer than everything that is known.
      await sink.replace(item === undefined ? [] : [item], raw?.metadata.resourceVersion ?? "0");
      this.#connected();
      this.#disconnection.confirmed();
    });
  }

  async #recover(end: RoundEnd, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics, onError } = this.#options;
    metrics?.restarted(end.reason);
    this.#disconnection.ended(end.wait);
    if (end.error) this.#history.suspect();
    if (end.relist) this.#version = undefined;
    if (end.error) onError?.(end.error);
    const waitMs = this.#reconnect.nextMs(end);
    if (waitMs === 0) return;
    const fields = { reason: end.reason, error: end.error?.message, waitMs: Math.round(waitMs) };
    log?.[end.error ? "warn" : "debug"](this.#fields(fields), "watch ended, trying again");
    this.#reconnectAt = clock.monotonic() + waitMs;
    this.#lastAttempt = this.#reconnectAt;
    await this.#reconnect.wait(waitMs, end.error, signal);
    this.#reconnectAt = undefined;
  }

  #connected(): void {
    this.#disconnection.opened();
    this.#options.onConnected?.();
  }

  #noteActivity(): void {
    this.#lastActivity = this.#options.clock.monotonic();
    this.#options.metrics?.activity();
  }

  #fields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { resource: describeScope(this.#options.scope), ...fields };
  }
}
