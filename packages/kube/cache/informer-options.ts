// What an informer and its reflector need, and what they tell.
import type { ApiClient } from "../rest/api-client.ts";
import type { KubeObject, Resource } from "../rest/resource.ts";
import type { SharedTable } from "../store/object-table.ts";
import type { Stored } from "../store/stored.ts";
import type { Backoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import type { ListScope } from "./list-scope.ts";
import type { LiveEvent } from "./watch.ts";

/** Logger for lists and watches: a pino logger, or anything like it. */
export type ReflectorLog = {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
};

/** Metrics of lists and watches. */
export type ReflectorMetrics = {
  /** The server was heard from on this watch. */
  activity(): void;
  /** A watch or list ended, well (`closed`) or not. `reason` is one of a few fixed values. */
  restarted(reason: string): void;
};

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

/** Name of the one object in scope. While list and watch are refused with 403, it is read by GET. */
export type SingleObject = {
  readonly name: string;
  /** Called with true when it is first read by GET, and with false when it is watched again. */
  readonly onReads?: ((active: boolean) => void) | undefined;
};

/** Receives the objects and events. */
export type Sink<T> = {
  /** Returns what to keep of an object, or undefined to leave it out. May throw. */
  transform(raw: KubeObject): T | undefined;
  /** Every object as of `version`. */
  replace(items: readonly T[], version: string): Promise<void>;
  /** One later event. Must not throw. */
  event(event: LiveEvent): void;
};

export type ReflectorOptions<T> = Pick<
  InformerOptions<never>,
  "client" | "clock" | "backoff" | "onError" | "onConnected" | "log"
> & {
  readonly metrics?: ReflectorMetrics | undefined;
  readonly single?: SingleObject | undefined;
  readonly scope: ListScope;
  readonly sink: Sink<T>;
};
