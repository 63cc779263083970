// A coordination.k8s.io/v1 Lease as JSON, and its state after each step of an election.
// Promises: the functions are pure. Every other field is kept, known to us or not (strategy, preferredHolder,
// labels of others). Times have the six digits that the API server requires.
// Does not judge times in the record: clocks of two machines are never compared.

/** The record of a Lease. */
export type LeaseSpec = {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  readonly [field: string]: unknown;
};

/** A coordination.k8s.io/v1 Lease. Unknown fields are kept. */
export type Lease = {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly resourceVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly spec?: LeaseSpec;
  readonly [field: string]: unknown;
};

/** The holder, and for how long others should treat it as live. */
export type LeaseHolder = {
  readonly identity: string;
  readonly durationSeconds: number;
  /** Wall time in ms, for display. */
  readonly now: number;
};

export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? "";
}

/** metav1.MicroTime: RFC 3339 with exactly six digits. Three digits are refused with 400. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

export function newLease(
  metadata: { readonly namespace: string; readonly name: string; readonly labels?: object },
  claim: LeaseHolder,
): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata,
    spec: { ...claimed(claim), acquireTime: microTime(claim.now), leaseTransitions: 0 },
  };
}

export function renewed(lease: Lease, claim: LeaseHolder): Lease {
  return { ...lease, spec: { ...lease.spec, ...claimed(claim) } };
}

export function takenOver(lease: Lease, claim: LeaseHolder): Lease {
  const leaseTransitions = countedOn(lease.spec?.leaseTransitions ?? 0);
  const acquireTime = microTime(claim.now);
  return { ...lease, spec: { ...lease.spec, ...claimed(claim), acquireTime, leaseTransitions } };
}

/** A Lease that is free: no holder, and the shortest valid duration. */
export function released(lease: Lease, now: number): Lease {
  const claim = claimed({ identity: "", durationSeconds: 1, now });
  return { ...lease, spec: { ...lease.spec, ...claim, acquireTime: microTime(now) } };
}

// The API server refuses a number above 32 bits. No process could then take over the Lease.
const MOST_TRANSITIONS = 2 ** 31 - 1;

function countedOn(transitions: number): number {
  return transitions >= 0 && transitions < MOST_TRANSITIONS ? transitions + 1 : 0;
}

function claimed({ identity, durationSeconds, now }: LeaseHolder): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: durationSeconds,
    renewTime: microTime(now),
  };
}
