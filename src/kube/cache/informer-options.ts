// What an informer needs, and what it tells.
import type { ApiClient } from "../rest/api-client.ts";
import type { KubeObject, Resource } from "../rest/resource.ts";
import type { SharedTable } from "../store/object-table.ts";
import type { Stored } from "../store/stored.ts";
import type { Backoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import type { ReflectorLog, ReflectorMetrics, SingleObject } from "./reflector-options.ts";

/** Metrics of one informer. */
export type InformerMetrics = ReflectorMetrics & {
  handlerFailed(): void;
  /** An event was dropped because the transform threw. */
  eventDropped(): void;
};

/** Options of an {@link Informer}. */
export type InformerOptions<T extends Stored> = {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * Returns what to keep of an object, or undefined to leave it out. It is called once for each version of an
   * object, so it must be deterministic. When it throws, a watch event is dropped, and a list fails as a whole.
   */
  readonly transform: (raw: KubeObject) => T | undefined;
  readonly clock: Clock;
  readonly backoff?: Backoff;
  /**
   * Interval in ms, ±10 %, at which handlers receive the whole cache again. At least 1,000. 0 or absent: never.
   */
  readonly resyncMs?: number | undefined;
  /** Called once for each failed list or watch, and for each exception of a handler or transform. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Called each time a watch is opened from a known version, including the first. Must not throw. */
  readonly onConnected?: (() => void) | undefined;
  readonly log?: ReflectorLog | undefined;
  readonly metrics?: InformerMetrics | undefined;
  /** @internal */
  readonly single?: SingleObject | undefined;
  /**
   * Follows only the objects of one name, in a table that it shares with informers of other names.
   * @internal
   */
  readonly shared?: SharedTable<T> | undefined;
};
