// One Lease on an API server in memory: versions, optimistic locking, and faults on demand. Each
// candidate of a test has its own client; a hung request is answered by nothing but its signal.
import type { LeaseClient } from "../leaderelection/elector-options.ts";
import type { Lease, LeaseSpec } from "../leaderelection/lease-record.ts";

type Verb = "get" | "create" | "update";
type Fault = {
  readonly verb: Verb | "any";
  left: number;
  readonly act: (write: () => void) => void;
};

class LeaseFault extends Error {
  readonly kind: string;
  constructor(kind: string) {
    super(`lease request failed: ${kind}`);
    this.kind = kind;
  }
}

export class LeaseServer {
  lease: Lease | undefined;
  /** Every request that arrived, in order. */
  readonly requests: Verb[] = [];
  readonly written: Lease[] = [];
  #version = 100;
  #faults: Fault[] = [];
  /** Runs once, between a successful get and what follows it. */
  afterGet: (() => void) | undefined;

  get spec(): LeaseSpec {
    return this.lease?.spec ?? {};
  }

  get holder(): string | undefined {
    return this.lease?.spec?.holderIdentity;
  }

  /** Writes as somebody else would, with a new version. */
  put(spec: LeaseSpec | undefined, metadata: object = {}): void {
    const resourceVersion = `${++this.#version}`;
    const base = { ...this.lease?.metadata, namespace: "ns", name: "lock", ...metadata };
    this.lease = { metadata: { ...base, resourceVersion }, ...(spec && { spec }) };
  }

  /** Goes back to what was some versions ago, as etcd restored from a backup. */
  rewind(): void {
    this.#version -= 50;
    this.put(this.lease?.spec);
  }

  /** The next `times` requests of that kind reject without effect. */
  fail(verb: Verb | "any", kind: string, times = Infinity): void {
    const act = (): never => {
      throw new LeaseFault(kind);
    };
    this.#faults.push({ verb, left: times, act });
  }

  /** They take effect, and then nobody hears of it. */
  loseAnswer(verb: Verb, times = 1): void {
    const act = (write: () => void): never => {
      write();
      throw new LeaseFault("network");
    };
    this.#faults.push({ verb, left: times, act });
  }

  heal(): void {
    this.#faults = [];
  }

  client(): LeaseClient & { hang: boolean; ignoreSignals: boolean } {
    const client = {
      hang: false,
      ignoreSignals: false,
      get: (signal: AbortSignal) => call("get", signal, () => this.#get()),
      create: (lease: Lease, signal: AbortSignal) =>
        call("create", signal, () => this.#create(lease)),
      update: (lease: Lease, signal: AbortSignal) =>
        call("update", signal, () => this.#update(lease)),
    };
    const call = async (verb: Verb, signal: AbortSignal, run: () => Lease): Promise<Lease> => {
      this.requests.push(verb);
      if (client.hang) await (client.ignoreSignals ? new Promise(() => {}) : aborted(signal));
      const fault = this.#faults.find((f) => f.left > 0 && (f.verb === verb || f.verb === "any"));
      if (fault) {
        fault.left--;
        fault.act(() => void run());
      }
      return structuredClone(run());
    };
    return client;
  }

  #get(): Lease {
    if (!this.lease) throw new LeaseFault("notFound");
    const answer = this.lease;
    const then = this.afterGet;
    this.afterGet = undefined;
    then?.();
    return answer;
  }

  #create(lease: Lease): Lease {
    if (this.lease) throw new LeaseFault("alreadyExists");
    return this.#store(lease);
  }

  #update(lease: Lease): Lease {
    if (!this.lease) throw new LeaseFault("notFound");
    if (lease.metadata.resourceVersion !== this.lease.metadata.resourceVersion)
      throw new LeaseFault("conflict");
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    const resourceVersion = `${++this.#version}`;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion } };
    this.written.push(this.lease);
    return this.lease;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
