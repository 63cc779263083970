// What `secretcast/sandbox` promises to the tests of other projects. docs/sandbox.md is the guide.

/** How a sandbox begins. */
export type SandboxStart = {
  /** Port on 127.0.0.1. With 0, the default, any free one. */
  readonly port?: number;
  /** Milliseconds since the epoch at which time stands still until `step`. Without it, time passes. */
  readonly time?: number;
  /** Changes of each resource from which a watch can continue. Older versions get 410. The default is 20,000. */
  readonly historyLimit?: number;
};

/** What a request wants, as RBAC names it. */
export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** Which requests. A field that is left out matches every request. */
export type RequestMatch = {
  readonly verb?: Verb;
  /** In the plural, with its subresource if it has one: `secrets`, `deployments/status`. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
};

/** What happens to a request instead of its answer, or to its answer. */
export type Effect =
  /** An error of the API server. `retryAfter` in seconds becomes the header too. Nothing is carried out. */
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    }
  /** Any other answer, such as the page of a proxy. Nothing is carried out. */
  | {
      readonly kind: "answer";
      readonly code: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The connection is closed without an answer. Nothing is carried out. */
  | { readonly kind: "reset" }
  /** The request is carried out after this time of the sandbox. With Infinity it is never answered. */
  | { readonly kind: "delay"; readonly ms: number }
  /** A watch whose connection is closed after so many events; bookmarks are not counted. */
  | { readonly kind: "cut"; readonly afterEvents: number }
  /** A watch that ends with 410 Expired after so many events; bookmarks are not counted. */
  | { readonly kind: "expire"; readonly afterEvents: number };

/** An effect, and when it happens. */
export type Fault = RequestMatch & {
  /** The first matching request that it happens to, counted from 1. The default is 1. */
  readonly nth?: number;
  /** To how many matching requests from then on. The default is 1; `Infinity` is all. */
  readonly times?: number;
  readonly effect: Effect;
};

/** A fault that was injected. */
export type InjectedFault = {
  /** How often it has happened. */
  readonly hits: number;
  /** From now on it does not happen any more. */
  remove(): void;
};

/** A request that was answered. */
export type AnsweredRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** 0 if the connection was closed instead of an answer. */
  readonly code: number;
  readonly userAgent: string;
};

/** An API server in this process. */
export type RunningSandbox = {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** For kubectl and every client, as YAML. */
  readonly kubeconfig: string;
  /** In the order of their answers; a watch is answered when it begins. The oldest of 200,000 are dropped. */
  readonly requests: readonly AnsweredRequest[];
  /**
   * Creates objects in order, from YAML documents or values, with their status; a List is its items. Throws at the first object that
   * a POST would be refused with: the error names the object, and its cause is the answer.
   */
  load(objects: string | readonly object[]): void;
  /** If several faults match one request, the one that was injected first happens. */
  inject(fault: Fault): InjectedFault;
  /** Milliseconds since the epoch, as timestamps of objects show it. */
  now(): number;
  /** Moves time on. What is due by then happens, in order. */
  step(ms: number): void;
  /** Closes the connections of all open watches. Answers with their number. */
  cutWatches(): number;
  /** Ends all open watches with 410 Expired. Answers with their number. */
  expireWatches(): number;
  /** Open watches stay open and send nothing any more. Answers with their number. */
  muteWatches(): number;
  /** Forgets the history: older versions and continue tokens get 410. */
  compact(): void;
  /** Closes every connection and the port. */
  stop(): Promise<void>;
};
