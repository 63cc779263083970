// The requests of a leader election on one Lease, each with a time limit.
// Promises: tryAcquireOrRenew() succeeds only with an answer that names us, by optimistic locking. The claim
// counts from the moment its request was sent, because that is the earliest moment others can have seen it.
// release() frees the Lease only if the fetched Lease names us, and only in that version.
// Does not loop, wait between attempts, or know what leading means: see leader-elector.ts.
import equal from "fast-deep-equal";
import { momentOf, type Moment } from "../time/clock.ts";
import type { LeaderElectorOptions, LeaseClient } from "./elector-options.ts";
import { holderOf, newLease, released, renewed, takenOver } from "./lease-record.ts";
import type { LeaseHolder, Lease } from "./lease-record.ts";
import { compareVersions, LEASES, resourcePath } from "../rest/resource.ts";
import { withTimeout } from "../time/deadline.ts";
import type { ApiClient } from "../rest/api-client.ts";

export type LeaseLockOptions = LeaderElectorOptions & {
  readonly leaseDurationMs: number;
  /** Time limit of one request in ms. */
  readonly requestTimeoutMs: number;
  /** Called with the holder at each change of the record. */
  readonly onRecord: (holder: string) => void;
};

/** The result of a claim: we hold the Lease, or another holder does. */
export type AcquireResult =
  | { readonly held: true; readonly since: Moment }
  | { readonly held: false; readonly holder: string };

/** The kind of a refusal by the server. See LeaseClient. */
function leaseErrorKind(error: unknown): unknown {
  return typeof error === "object" && error !== null && "kind" in error ? error.kind : undefined;
}

/** The Lease, or undefined if the server answered that it does not exist. */
export async function existing(reading: Promise<Lease>): Promise<Lease | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (leaseErrorKind(error) === "notFound") return undefined;
    throw error;
  }
}

/** The request was refused because the Lease had changed, so it was not carried out. */
function isOutdated(error: unknown): boolean {
  const kind = leaseErrorKind(error);
  return kind === "conflict" || kind === "alreadyExists" || kind === "notFound";
}

// Limit on conflicts of a release. If there are more, a proxy or a policy causes them and would never stop.
const RELEASE_TRIES = 5;

// An edited Lease may claim to last for years. A live holder renews it far more often than this.
const BELIEVED_LEASES = 4;

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease that names us, as last seen. It allows a renewal without a read. */
  #own: Lease | undefined;
  #record: Lease["spec"];
  #recordSeenAt = 0;
  #seenVersion = "";
  #unanswered = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Whether a claim was sent whose outcome is unknown. */
  get unanswered(): boolean {
    return this.#unanswered;
  }

  /** The namespace, name and UID of the Lease that named us when it was last seen. */
  get own(): { namespace: string; name: string; uid: string } | undefined {
    if (!this.#own) return undefined;
    const { namespace, name, uid } = this.#own.metadata;
    return typeof uid === "string" ? { namespace, name, uid } : undefined;
  }

  /** Its number of holders before us. */
  get transitions(): number | undefined {
    return this.#own?.spec?.leaseTransitions;
  }

  /** Takes the Lease when it is free, or renews ours. Rejects when the outcome is unknown. */
  async tryAcquireOrRenew(signal: AbortSignal): Promise<AcquireResult> {
    if (this.#own) {
      try {
        return await this.#write(renewed(this.#own, this.#claim()), signal);
      } catch (error) {
        signal.throwIfAborted();
        // Only these errors show that the Lease has changed. After other errors a read would be a second
        // request that has to succeed. If the write succeeded after all, the next attempt finds out.
        if (!isOutdated(error)) throw error;
        this.#own = undefined;
        this.#options.metrics?.slowPath();
      }
    }
    const lease = await this.#fetch(signal);
    if (!lease) return this.#create(signal);
    const holder = holderOf(lease);
    if (holder === this.#options.identity) {
      this.#own = lease;
      return this.#write(renewed(lease, this.#claim()), signal);
    }
    if (holder !== "" && !this.#expired(lease)) return { held: false, holder };
    return this.#write(takenOver(lease, this.#claim()), signal);
  }

  /** Returns whether the Lease was ours and is free now. */
  async release(signal: AbortSignal): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const lease = await this.#fetch(signal);
      if (!lease || holderOf(lease) !== this.#options.identity) return false;
      try {
        const free = released(lease, this.#options.clock.now());
        await this.#bounded(signal, (inner) => this.#options.client.update(free, inner));
        return true;
      } catch (error) {
        if (leaseErrorKind(error) !== "conflict" || tries === RELEASE_TRIES) throw error;
      }
    }
  }

  #claim(): LeaseHolder {
    const { identity, leaseDurationMs, clock } = this.#options;
    return { identity, durationSeconds: leaseDurationMs / 1000, now: clock.now() };
  }

  async #fetch(signal: AbortSignal): Promise<Lease | undefined> {
    const { client } = this.#options;
    const lease = await this.#bounded(signal, (inner) => existing(client.get(inner)));
    if (lease !== undefined) this.#observe(lease);
    return lease;
  }

  #create(signal: AbortSignal): Promise<AcquireResult> {
    const { namespace, name, labels } = this.#options;
    const lease = newLease({ namespace, name, ...(labels && { labels }) }, this.#claim());
    return this.#send(signal, (inner) => this.#options.client.create(lease, inner));
  }

  #write(lease: Lease, signal: AbortSignal): Promise<AcquireResult> {
    return this.#send(signal, (inner) => this.#options.client.update(lease, inner));
  }

  async #send(
    signal: AbortSignal,
    request: (signal: AbortSignal) => Promise<Lease>,
  ): Promise<AcquireResult> {
    const since = momentOf(this.#options.clock);
    this.#unanswered = true;
    try {
      const saved = await this.#bounded(signal, request);
      this.#observe(saved);
      if (holderOf(saved) !== this.#options.identity)
        throw new Error(
          `Cannot hold the lease "${this.#options.name}": the answer names "${holderOf(saved)}"`,
        );
      this.#own = saved;
      this.#unanswered = false;
      return { held: true, since };
    } catch (error) {
      if (isOutdated(error)) this.#unanswered = false;
      throw error;
    }
  }

  #observe(lease: Lease): void {
    // An answer that is not a Lease must not lead to an update without a version.
    if (typeof lease?.metadata?.resourceVersion !== "string")
      throw new TypeError(
        `Cannot read the lease "${this.#options.name}": the answer has no metadata.resourceVersion`,
      );
    // Also valid for a Lease that was deleted and created again: the versions of one resource only increase.
    const { resourceVersion } = lease.metadata;
    const before = this.#seenVersion;
    this.#seenVersion = resourceVersion;
    if (compareVersions(resourceVersion, before) < 0) this.#options.onVersionWentBack?.();
    if (this.#record && equal(lease.spec, this.#record)) return;
    this.#record = lease.spec ?? {};
    this.#recordSeenAt = this.#options.clock.monotonic();
    this.#options.onRecord(holderOf(lease));
  }

  /** Measured by our own clock since the record last changed, against the record's own duration. */
  #expired(lease: Lease): boolean {
    const { leaseDurationMs, clock } = this.#options;
    const seconds = lease.spec?.leaseDurationSeconds ?? 0;
    const longest = leaseDurationMs * BELIEVED_LEASES;
    const duration = seconds > 0 ? Math.min(seconds * 1000, longest) : leaseDurationMs;
    return clock.monotonic() - this.#recordSeenAt > duration;
  }

  #bounded<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withTimeout(this.#options.clock, this.#options.requestTimeoutMs, signal, run);
  }
}

/**
 * The Lease needs its own client: renewals must not wait behind bulk writes. The lock has its own timeouts.
 * `timeoutMs` is for other callers.
 */
export function createLeaseClient(
  api: ApiClient,
  namespace: string,
  name: string,
  timeoutMs?: number,
): LeaseClient {
  const collection = resourcePath(LEASES, namespace);
  const path = resourcePath(LEASES, namespace, name);
  const lease = `lease ${namespace}/${name}`;
  const bound = timeoutMs === undefined ? {} : { timeoutMs };
  return {
    get: (signal) =>
      api.request<Lease>({ method: "GET", path, signal, what: `get ${lease}`, ...bound }),
    create(body, signal) {
      const what = `create ${lease}`;
      return api.request<Lease>({ method: "POST", path: collection, body, signal, what, ...bound });
    },
    update(body, signal) {
      const what = `update ${lease}`;
      return api.request<Lease>({ method: "PUT", path, body, signal, what, ...bound });
    },
  };
}
