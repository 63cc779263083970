// What a leader elector needs, and which times are consistent.
import type { Reachability } from "../rest/reachability.ts";
import type { Clock } from "../time/clock.ts";
import type { Lease } from "./lease-record.ts";

/** client-go: leaderelection.JitterFactor. */
export const JITTER_FACTOR = 1.2;

/**
 * The API calls needed, for one Lease. They reject with an error whose `kind` is `notFound`, `conflict`,
 * `alreadyExists` or `throttled` if the server answered so, and with any other error otherwise.
 */
export type LeaseClient = {
  get(signal: AbortSignal): Promise<Lease>;
  create(lease: Lease, signal: AbortSignal): Promise<Lease>;
  update(lease: Lease, signal: AbortSignal): Promise<Lease>;
};

/** The metrics of client-go. The caller publishes them. */
export type LeaderMetrics = {
  /** leader_election_master_status{name}. */
  leading(isLeader: boolean): void;
  /** leader_election_slowpath_total{name}: a renewal needed a read first. */
  slowPath(): void;
};

/** Options of a {@link LeaderElector}: the Lease, the identity and the times. */
export type LeaderElectorOptions = {
  readonly client: LeaseClient;
  readonly clock: Clock;
  /** Unique to this process. See newIdentity. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  /** Labels of a Lease that we create. */
  readonly labels?: Readonly<Record<string, string>>;
  /** How long others wait before they take the Lease from us, in whole seconds. 15 s as in client-go. */
  readonly leaseDurationMs?: number;
  /** How long we lead without a renewal. 10 s as in client-go. */
  readonly renewDeadlineMs?: number;
  /** Wait between attempts. A candidate waits up to 2.2 times as long. 2 s as in client-go. */
  readonly retryPeriodMs?: number;
  /** At the end of an outage the elector tries again at once. */
  readonly reachability?: Reachability;
  /** Default true, so that a roll-out takes over in seconds. */
  readonly releaseOnCancel?: boolean;
  readonly metrics?: LeaderMetrics;
  /** Text for an Event on the Lease: Normal, reason LeaderElection. */
  readonly onEvent?: (note: string) => void;
  /** The Lease was seen at a lower version than before: etcd was restored from a backup. */
  readonly onVersionWentBack?: () => void;
  /** An attempt failed. Further attempts follow. A leader reports one failure in a retry period. */
  readonly onError?: (error: unknown) => void;
  /** An attempt succeeded, even if it found another holder. The failures that `onError` reported are resolved. */
  readonly onAnswer?: () => void;
};

/** The callbacks of a leader. */
export type LeaderCallbacks = {
  /** The work. Its signal aborts when the lease is lost or run() is cancelled. The work must then end. */
  readonly onStartedLeading: (signal: AbortSignal) => Promise<void>;
  /** Always called when run() ends, also when we never led. */
  readonly onStoppedLeading?: () => void;
  /** Once for each new holder seen, ourselves included. */
  readonly onNewLeader?: (identity: string) => void;
};

/** Throws a RangeError for times that are not consistent. */
export function checkDurations(leaseMs: number, renewMs: number, retryMs: number): void {
  const inOrder = retryMs > 0 && renewMs > retryMs * JITTER_FACTOR && leaseMs > renewMs;
  if (!inOrder)
    throw new RangeError(
      `Cannot elect a leader with lease ${leaseMs} ms, renew deadline ${renewMs} ms and retry period ${retryMs} ms: the lease must be longer than the deadline, and the deadline than ${JITTER_FACTOR} times the period`,
    );
  if (leaseMs % 1000 !== 0)
    throw new RangeError(
      `Cannot elect a leader with a lease of ${leaseMs} ms: the API knows whole seconds only`,
    );
}
