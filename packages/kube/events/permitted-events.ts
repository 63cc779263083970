// Writes Events where the account may write them.
// Promises: after RBAC refused an Event in a namespace, none is sent there for ten minutes. The callbacks are
// called once when a namespace becomes denied, and once when an Event arrives there again.
import { ApiError } from "../rest/api-error.ts";
import type { Clock } from "../time/clock.ts";
import type { EventClient } from "./event-writer.ts";
import { LruMap } from "../lru.ts";

const RETRY_MS = 10 * 60_000;
const REMEMBERED = 4096;

/** RBAC gives no right to write Events in this namespace. The API server was not necessarily asked again. */
export class EventsDeniedError extends Error {
  override readonly name = "EventsDeniedError";
  readonly kind = "forbidden";
  readonly status = 403;

  constructor(namespace: string) {
    super(`no right to write Events in namespace ${namespace}`);
  }
}

export type EventAccess = {
  readonly onDenied: (namespace: string) => void;
  readonly onAllowed: (namespace: string) => void;
};

/** Rejects with an EventsDeniedError instead of the API server's refusal, and where none is sent. */
export function permittedEvents(
  client: EventClient,
  clock: Pick<Clock, "monotonic">,
  { onDenied, onAllowed }: EventAccess,
): EventClient {
  /** When to try again, by namespace. */
  const denied = new LruMap<string, number>(REMEMBERED);
  const permitted = async <T>(namespace: string, send: () => Promise<T>): Promise<T> => {
    const until = denied.get(namespace);
    if (until !== undefined && clock.monotonic() < until) throw new EventsDeniedError(namespace);
    try {
      const answer = await send();
      denied.delete(namespace);
      if (until !== undefined) onAllowed(namespace);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError) || error.why.cause !== "missingRight") throw error;
      denied.set(namespace, clock.monotonic() + RETRY_MS);
      if (until === undefined) onDenied(namespace);
      throw new EventsDeniedError(namespace);
    }
  };
  return {
    create: (event, signal) =>
      permitted(event.metadata.namespace, () => client.create(event, signal)),
    patchSeries: (event, series, signal) =>
      permitted(event.metadata.namespace, () => client.patchSeries(event, series, signal)),
  };
}
