// The requests of a leader election on one Lease, each bounded in time.
// Promises: tryAcquireOrRenew() succeeds only with an answer that names us, by optimistic locking; it counts
// from the moment its request was sent, because that is the earliest moment others can have seen it;
// release() frees the Lease only if the Lease just fetched names us, by that very version.
// Does not loop, wait between tries, or know what leading means: leader-elector.ts does.
import equal from "fast-deep-equal";
import { momentOf, type Clock, type Moment } from "../time/clock.ts";
import { holderOf, newLease, released, renewed, takenOver } from "./lease-record.ts";
import type { LeaseHolder, Lease } from "./lease-record.ts";
import { compareVersions, LEASES, resourcePath } from "../rest/resource.ts";
import { withTimeout } from "../time/deadline.ts";
import type { ApiClient } from "../rest/api-client.ts";

/**
 * The API calls needed, for one Lease. They reject with an error whose `kind` is `notFound`,
 * `conflict`, `alreadyExists` or `throttled` where the server said so, and anything else otherwise.
 */
export type LeaseClient = {
  get(signal: AbortSignal): Promise<Lease>;
  create(lease: Lease, signal: AbortSignal): Promise<Lease>;
  update(lease: Lease, signal: AbortSignal): Promise<Lease>;
};

export type LeaseLockOptions = {
  readonly client: LeaseClient;
  readonly clock: Clock;
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly leaseDurationMs: number;
  /** Bound of one request in ms. */
  readonly requestTimeoutMs: number;
  /** Called with each holder seen, at every change of the record. */
  readonly onRecord: (holder: string) => void;
  readonly onSlowPath: () => void;
  /** The Lease, or its successor, was seen at a lower version than before. */
  readonly onVersionWentBack: () => void;
};

/** What a claim found: we hold it, or who does. */
export type AcquireResult =
  | { readonly held: true; readonly since: Moment }
  | { readonly held: false; readonly holder: string };

/** The server's own word for what it refused; see LeaseClient. */
function leaseErrorKind(error: unknown): unknown {
  return typeof error === "object" && error !== null && "kind" in error ? error.kind : undefined;
}

/** Refused because the Lease is not what the request took it for, so it was not carried out. */
function isOutdated(error: unknown): boolean {
  const kind = leaseErrorKind(error);
  return kind === "conflict" || kind === "alreadyExists" || kind === "notFound";
}

// Conflicts of a release: whoever meets more has a proxy or a policy between, which answers for ever.
const RELEASE_TRIES = 5;

// Somebody's edit may say that it lasts for years; whoever lives renews it far more often than this.
const BELIEVED_LEASES = 4;

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease that names us, as it was last seen: the fast path of a renewal. */
  #own: Lease | undefined;
  #record: Lease["spec"];
  #recordSeenAt = 0;
  #seenVersion = "";
  #unanswered = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Whether a claim was sent whose outcome is not known. */
  get unanswered(): boolean {
    return this.#unanswered;
  }

  /** Where the Lease is that named us when it was last seen, and its UID. */
  get own(): { namespace: string; name: string; uid: string } | undefined {
    if (!this.#own) return undefined;
    const { namespace, name, uid } = this.#own.metadata;
    return typeof uid === "string" ? { namespace, name, uid } : undefined;
  }

  /** Takes the Lease when it is free, or renews ours. Rejects when it cannot tell. */
  async tryAcquireOrRenew(signal: AbortSignal): Promise<AcquireResult> {
    if (this.#own) {
      try {
        return await this.#write(renewed(this.#own, this.#claim()), signal);
      } catch (error) {
        signal.throwIfAborted();
        // Only these say that it is another one now. After anything else a read would be a second
        // request that has to succeed; if the write was made all the same, the next one finds it out.
        if (!isOutdated(error)) throw error;
        this.#own = undefined;
        this.#options.onSlowPath();
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

  /** Answers whether the Lease was ours and is free now. */
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
    try {
      const lease = await this.#bounded(signal, (inner) => this.#options.client.get(inner));
      this.#observe(lease);
      return lease;
    } catch (error) {
      if (leaseErrorKind(error) === "notFound") return undefined;
      throw error;
    }
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
    // An answer that is no Lease must not lead to an update without a version.
    if (typeof lease?.metadata?.resourceVersion !== "string")
      throw new TypeError(
        `Cannot read the lease "${this.#options.name}": the answer has no metadata.resourceVersion`,
      );
    // Of a Lease deleted and made anew too: the versions of one resource only grow.
    const { resourceVersion } = lease.metadata;
    const before = this.#seenVersion;
    this.#seenVersion = resourceVersion;
    if (compareVersions(resourceVersion, before) < 0) this.#options.onVersionWentBack();
    if (this.#record && equal(lease.spec, this.#record)) return;
    this.#record = lease.spec ?? {};
    this.#recordSeenAt = this.#options.clock.monotonic();
    this.#options.onRecord(holderOf(lease));
  }

  /** By our own clock since we saw the record change, against the record's own duration. */
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
 * Give it a client of its own: renewals must not wait behind bulk writes. The lock has its own timeouts;
 * `timeoutMs` is for others.
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
