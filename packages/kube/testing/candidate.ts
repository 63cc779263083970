// A candidate of a leader election in a test: its elector, its work, and what it was told.
import { sleep } from "../time/clock.ts";
import { LeaderElector } from "../leaderelection/leader-elector.ts";
import type { LeaderElectorOptions, LeaseClient } from "../leaderelection/elector-options.ts";
import { FakeClock } from "./fake-clock.ts";
import { LeaseServer } from "./lease-server.ts";
import { watched } from "./queue-takers.ts";

export type Candidate = {
  readonly elector: LeaderElector;
  readonly client: LeaseClient & { hang: boolean; ignoreSignals: boolean };
  readonly log: string[];
  readonly errors: unknown[];
  readonly cancel: () => void;
  readonly result: { value(): Promise<"cancelled" | "lost" | "pending"> };
};

type CandidateOptions = Partial<LeaderElectorOptions> & {
  /** How long the work goes on after its signal aborted. */
  readonly windDownMs?: number;
  readonly work?: (signal: AbortSignal) => Promise<void>;
};

/** Starts to run at once. */
export function candidate(
  clock: FakeClock,
  server: LeaseServer,
  identity: string,
  { windDownMs = 0, work, ...options }: CandidateOptions = {},
): Candidate {
  const client = server.client();
  const log: string[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const names = { namespace: "ns", name: "lock", identity };
  const elector = new LeaderElector({ client, clock, onError, ...names, ...options });
  const controller = new AbortController();
  const standIn = async (signal: AbortSignal): Promise<void> => {
    await untilAborted(signal);
    if (windDownMs > 0) await sleep(clock, windDownMs);
  };
  const run = elector.run(controller.signal, {
    onStartedLeading: async (signal) => {
      log.push("started");
      await (work ?? standIn)(signal);
      log.push("work ended");
    },
    onStoppedLeading: () => void log.push("stopped"),
    onNewLeader: (id) => void log.push(`leader ${id}`),
  });
  const result = watched(run);
  const cancel = (): void => controller.abort(new Error("cancelled by the test"));
  return { elector, client, log, errors, cancel, result };
}

/** A clock, and an API server without a Lease. */
export function election() {
  return { clock: new FakeClock(), server: new LeaseServer() };
}

/** The only candidate of an election, which has just begun to run. */
export function alone(options: CandidateOptions = {}) {
  const { clock, server } = election();
  return { clock, server, ...candidate(clock, server, "me", options) };
}

/** The only candidate, which leads by now and is about to renew. */
export async function leading(options: CandidateOptions = {}) {
  const made = alone(options);
  await made.clock.advance(2000);
  return made;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
