// One watch request, from its opening to its end.
// Promises: it resolves when the server ends the stream between two lines. Every other end is a rejection that
// names the cause. The connection is always closed. A peer that disappears silently is detected by its silence
// (silence.ts), and at the latest by the deadline.
import { ApiError } from "../rest/api-error.ts";
import type { ApiClient, ApiStream } from "../rest/api-client.ts";
import type { Clock } from "../time/clock.ts";
import { Deadline } from "../time/deadline.ts";
import { inTurns, nextTurn } from "../time/turns.ts";
import { resourcePath } from "../rest/resource.ts";
import { describeScope, scopeSelectors } from "./list-scope.ts";
import type { ListScope } from "./list-scope.ts";
import type { Silence, SilenceGuard } from "./silence.ts";
import { LineSplitter, LONGEST_LINE_BYTES, eventOf } from "./watch-decoder.ts";
import type { WatchEvent } from "./watch-decoder.ts";

export type LiveEvent = Extract<WatchEvent, { readonly kind: "set" | "delete" | "bookmark" }>;

export type WatchOptions = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly scope: ListScope;
  readonly query: Readonly<Record<string, string | boolean>>;
  readonly signal: AbortSignal;
  /** The watches of this scope. */
  readonly silence: Silence;
  readonly onOpen?: (() => void) | undefined;
  /** The server was heard from: this many bytes of the stream arrived. */
  readonly onBytes: (bytes: number) => void;
  readonly onEvent: (event: LiveEvent) => void | Promise<void>;
};

// Short enough to detect a dead connection within five minutes, whatever the cause. Long enough that
// reconnecting is no load.
const SHORTEST_SECONDS = 200;
/** A watch that ends sooner did not end by its own time limit, which is in whole seconds. */
export const SHORTEST_WATCH_MS = SHORTEST_SECONDS * 1000 - 1000;
const LONGEST_SECONDS = 270;
// How long after the server's own end of the watch the connection counts as dead.
const GRACE_MS = 15_000;
const OPEN_TIMEOUT_MS = 30_000;
const EVENTS_BETWEEN_YIELDS = 1000;
// One object of a tenant may take as long as a thousand others.
const TURN_MS = 5;

export async function watch(options: WatchOptions): Promise<void> {
  const { client, clock, scope } = options;
  const span = LONGEST_SECONDS - SHORTEST_SECONDS;
  const timeoutSeconds = SHORTEST_SECONDS + Math.floor(clock.random() * span);
  const deadline = new Deadline(clock, timeoutSeconds * 1000 + GRACE_MS, options.signal);
  const what = `watch ${describeScope(scope)}`;
  let silentMs: number | undefined;
  const silence = options.silence.guard((ms) => {
    silentMs = ms;
    deadline.abort();
  });
  try {
    const stream = await client.open({
      method: "GET",
      path: resourcePath(scope.resource, scope.namespace),
      query: {
        ...options.query,
        ...scopeSelectors(scope),
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds,
      },
      what,
      signal: deadline.signal,
      timeoutMs: OPEN_TIMEOUT_MS,
    });
    await read(stream, what, options, silence);
  } catch (error) {
    if (silentMs !== undefined)
      throw new ApiError(what, {
        kind: "timeout",
        reason: "SilentConnection",
        note: `${client.server} has sent nothing on the open watch for ${silentMs / 1000} s`,
      });
    if (deadline.expired)
      throw new ApiError(what, {
        kind: "timeout",
        reason: "DeadConnection",
        note: `${client.server} did not end the watch after ${timeoutSeconds} s`,
      });
    throw error;
  } finally {
    silence.release();
    deadline.release();
  }
}

async function read(
  stream: ApiStream,
  what: string,
  options: WatchOptions,
  silence: SilenceGuard,
): Promise<void> {
  const { client, clock, scope, signal, onBytes, onEvent } = options;
  const lines = new LineSplitter();
  const keepKeyPrefixes = client.keepKeyPrefixes ?? [];
  let events = 0;
  let turned = clock.monotonic();
  try {
    options.onOpen?.();
    onBytes(0);
    silence.heard();
    for await (const chunk of stream.body) {
      silence.heard();
      onBytes(chunk.length);
      for (const line of lines.push(chunk)) {
        const event = await inTurns(eventOf(line, keepKeyPrefixes, scope.resource.kind, what));
        await onEvent(live(event, what));
        if (++events % EVENTS_BETWEEN_YIELDS === 0 || clock.monotonic() - turned >= TURN_MS) {
          await nextTurn();
          turned = clock.monotonic();
        }
        if (signal.aborted) throw new ApiError(what, { kind: "cancelled", reason: "Cancelled" });
      }
      if (lines.held > LONGEST_LINE_BYTES)
        throw bad(what, `a line is longer than ${LONGEST_LINE_BYTES} bytes`);
    }
  } finally {
    stream.close();
  }
  if (lines.held > 0) throw new ApiError(what, { kind: "unavailable", reason: "CutInsideALine" });
}

function live(event: WatchEvent, what: string): LiveEvent {
  if (event.kind === "bad") throw bad(what, event.why);
  if (event.kind === "error") throw event.error;
  return event;
}

function bad(what: string, note: string): ApiError {
  return new ApiError(what, { kind: "malformed", status: 200, reason: "BadEvent", note });
}
