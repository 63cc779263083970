// What a reflector needs, and what it tells.
import type { ApiClient } from "../rest/api-client.ts";
import type { KubeObject } from "../rest/resource.ts";
import type { Backoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import type { ListScope } from "./list-scope.ts";
import type { LiveEvent } from "./watch.ts";

/** Receives the objects and events. */
export type Sink<T> = {
  /** Returns what to keep of an object, or undefined to leave it out. May throw. */
  transform(raw: KubeObject): T | undefined;
  /** Every object as of `version`. */
  replace(items: readonly T[], version: string): Promise<void>;
  /** One later event. Must not throw. */
  event(event: LiveEvent): void;
};

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

export type ReflectorOptions<T> = {
  readonly client: ApiClient;
  readonly scope: ListScope;
  readonly clock: Clock;
  readonly backoff?: Backoff | undefined;
  readonly sink: Sink<T>;
  readonly onError?: ((error: Error) => void) | undefined;
  readonly onConnected?: (() => void) | undefined;
  readonly log?: ReflectorLog | undefined;
  readonly metrics?: ReflectorMetrics | undefined;
  readonly single?: SingleObject | undefined;
};

/** Name of the one object in scope. While list and watch are refused with 403, it is read by GET. */
export type SingleObject = {
  readonly name: string;
  /** Called with true when it is first read by GET, and with false when it is watched again. */
  readonly onReads?: ((active: boolean) => void) | undefined;
};
