// The Events of an API server in memory, with faults on demand, and a recorder that writes to them.
import { EventRecorder } from "../events/event-recorder.ts";
import type { EventRecorderOptions } from "../events/event-recorder.ts";
import type { EventDetails, EventSeries, KubeEvent } from "../events/event-record.ts";
import type { EventClient } from "../events/event-writer.ts";
import { Reachability } from "../rest/reachability.ts";
import { FakeClock } from "./fake-clock.ts";

export class EventFault extends Error {
  readonly kind: string;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  constructor(kind: string, status: number, retryAfterMs?: number) {
    super(`event request failed: ${kind}`);
    this.retryAfterMs = retryAfterMs;
    this.kind = kind;
    this.status = status;
  }
}

export const NO_ANSWER = new EventFault("unavailable", 0);

export class EventServer implements EventClient {
  readonly stored = new Map<string, KubeEvent>();
  /** "create" and "patch", as they arrived. */
  readonly requests: string[] = [];
  /** Thrown by the requests to come, one each. */
  readonly faults: EventFault[] = [];
  hang = false;

  get events(): KubeEvent[] {
    return [...this.stored.values()];
  }

  async create(event: KubeEvent, signal: AbortSignal): Promise<void> {
    await this.#arrive("create", signal);
    const name = `${event.metadata.namespace}/${event.metadata.name}`;
    if (this.stored.has(name)) throw new EventFault("alreadyExists", 409);
    this.stored.set(name, structuredClone(event));
  }

  async patchSeries(event: KubeEvent, series: EventSeries, signal: AbortSignal): Promise<void> {
    await this.#arrive("patch", signal);
    const name = `${event.metadata.namespace}/${event.metadata.name}`;
    const stored = this.stored.get(name);
    if (!stored) throw new EventFault("notFound", 404);
    this.stored.set(name, { ...stored, series: structuredClone(series) });
  }

  async #arrive(verb: string, signal: AbortSignal): Promise<void> {
    this.requests.push(verb);
    if (this.hang) await new Promise((_, reject) => signal.addEventListener("abort", reject));
    const fault = this.faults.shift();
    if (fault) throw fault;
  }
}

export type Recording = {
  readonly clock: FakeClock;
  readonly server: EventServer;
  readonly reachability: Reachability;
  readonly recorder: EventRecorder;
  readonly drops: string[];
};

export function recording(options: Partial<EventRecorderOptions> = {}): Recording {
  const clock = new FakeClock();
  const server = new EventServer();
  const drops: string[] = [];
  const reporter = { controller: "secretcast", instance: "pod-1" };
  const onDrop = (reason: string): void => void drops.push(reason);
  const reachability = new Reachability(clock);
  const own = { client: server, clock, reporter, reachability, onDrop };
  const recorder = new EventRecorder({ ...own, ...options });
  return { clock, server, reachability, recorder, drops };
}

export function details(over: Partial<EventDetails> = {}): EventDetails {
  return {
    regarding: {
      apiVersion: "v1",
      kind: "Secret",
      namespace: "team-a",
      name: "registry",
      uid: "u1",
    },
    type: "Normal",
    reason: "Copied",
    action: "Copy",
    note: "copied to 12 namespaces",
    ...over,
  };
}

export function about(name: string, namespace = "team-a"): EventDetails["regarding"] {
  return { apiVersion: "v1", kind: "Secret", namespace, name, uid: `uid of ${name}` };
}
