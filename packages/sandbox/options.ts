// The options of a sandbox, and the hooks with which a test observes requests and replaces answers.
import type { RequestTarget } from "./http/routes.ts";
import type { Json } from "./storage/object.ts";
import type { Schedule } from "./storage/schedule.ts";
import type { WatchEnding } from "./verbs/watch.ts";

export type SandboxOptions = {
  /** 0 (the default): any free port. */
  readonly port?: number;
  /** Wall time in milliseconds, for timestamps and ages. */
  readonly now?: () => number;
  /** Delayed calls. By default, the machine's clock makes them. */
  readonly schedule?: Schedule;
  /** Quiet time of a watch before a bookmark. The default is 120 s, as seen on a real server. */
  readonly quietBookmarkMs?: number;
  /** Changes of each resource that watches can replay. The default is 20,000. */
  readonly historyLimit?: number;
  /** Serves the kinds of shallow-kinds.ts too: Pods, Services, Deployments, custom resources. */
  readonly shallowKinds?: boolean;
  /** How long a deleted namespace keeps its contents. The default is 50 ms. */
  readonly terminationDelayMs?: number;
};

export type LoggedRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** 0 when the connection was cut instead of an answer. */
  readonly code: number;
  readonly userAgent: string;
};

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Undefined if no object or collection has the path. */
  readonly target: RequestTarget | undefined;
  readonly watch: boolean;
};

/** An answer that replaces the real one, or the end of a watch. "reset" closes the connection. */
export type Injected =
  | "reset"
  | WatchEnding
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Json;
    };
