// One watch of the API server in memory: its lines, until the server, the client or the clock ends it.
import type { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiStream } from "../../../packages/kube/rest/api-client.ts";
import type { Timer } from "../../../packages/kube/time/clock.ts";
import type { KubeObject } from "../../../packages/kube/rest/resource.ts";
import type { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";

/** A change as the server remembers it; a lost one is told to nobody, ever. */
export type Logged = {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly plural: string;
  readonly object: KubeObject;
  readonly version: number;
  readonly lost: boolean;
};

export class MemoryWatch {
  readonly #plural: string;
  readonly #onEnd: () => void;
  readonly #timer: Timer;
  readonly #waiting: (Uint8Array | ApiError | "end")[] = [];
  #wake: () => void = () => undefined;

  constructor(clock: FakeClock, plural: string, lastsMs: number, onEnd: () => void) {
    this.#plural = plural;
    this.#onEnd = onEnd;
    this.#timer = clock.setTimeout(() => this.#end("end"), lastsMs);
  }

  get stream(): ApiStream {
    const close = (): void => this.#end("end");
    const contentType = "application/json";
    return { status: 200, contentType, headers: {}, body: this.#body(), close };
  }

  /** The streaming list, with its end mark. */
  begin(objects: readonly KubeObject[], version: number): void {
    for (const object of objects) this.#line({ type: "ADDED", object });
    const annotations = { "k8s.io/initial-events-end": "true" };
    const metadata = { resourceVersion: String(version), annotations };
    this.#line({ type: "BOOKMARK", object: { kind: "Mark", apiVersion: "v1", metadata } });
  }

  /** A change later than `after`. */
  tell({ plural, lost, version, type, object }: Logged, after = 0): void {
    if (plural === this.#plural && !lost && version > after) this.#line({ type, object });
  }

  /** Nothing up to `version` is left to tell. */
  mark(version: number): void {
    const metadata = { resourceVersion: String(version) };
    this.#line({ type: "BOOKMARK", object: { kind: "Mark", apiVersion: "v1", metadata } });
  }

  expire(): void {
    const status = { kind: "Status", status: "Failure", code: 410, reason: "Expired" };
    this.#line({ type: "ERROR", object: status });
    this.#end("end");
  }

  fail(error: ApiError): void {
    this.#end(error);
  }

  #line(event: object): void {
    this.#waiting.push(Buffer.from(`${JSON.stringify(event)}\n`));
    this.#wake();
  }

  #end(how: ApiError | "end"): void {
    this.#timer.cancel();
    this.#onEnd();
    this.#waiting.push(how);
    this.#wake();
  }

  async *#body(): AsyncIterable<Uint8Array> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next === "end") return;
      if (next instanceof Error) throw next;
      if (next) yield next;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
