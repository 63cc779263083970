// One annotation of a Lease, for state that must survive the leader's process.
// Promises: writes use optimistic locking, so a renewal is never undone. With an identity, it is written only
// while the Lease names that holder. All other fields of the Lease stay as they are. A leader's next renewal
// costs one more read. The client limits the time of a request.
import { ApiError } from "../rest/api-error.ts";
import { holderOf, type Lease } from "./lease-record.ts";
import type { LeaseClient } from "./elector-options.ts";
import { existing } from "./lease-lock.ts";

export type LeaseAnnotationOptions = {
  readonly client: LeaseClient;
  readonly namespace: string;
  readonly name: string;
  /** Key of the annotation. */
  readonly key: string;
  /** The required holder of the Lease. Undefined without an election: the Lease is then created if missing. */
  readonly identity: string | undefined;
};

const MOST_TRIES = 5;

export class LeaseAnnotation {
  readonly #options: LeaseAnnotationOptions;

  constructor(options: LeaseAnnotationOptions) {
    this.#options = options;
  }

  /** "Lease NAMESPACE/NAME". */
  get where(): string {
    return `Lease ${this.#options.namespace}/${this.#options.name}`;
  }

  /** Undefined if the annotation or the Lease does not exist. */
  async read(signal: AbortSignal): Promise<string | undefined> {
    const lease = await existing(this.#options.client.get(signal));
    return lease && this.#valueOn(lease);
  }

  /** Replaces the value by the result of `change`. Undefined removes it. An equal value is not written. */
  async write(
    change: (before: string | undefined) => string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const lease = await existing(this.#options.client.get(signal));
      this.#checkHolder(lease);
      const before = lease && this.#valueOn(lease);
      const value = change(before);
      if (value === before) return;
      try {
        await this.#send(lease, value, signal);
        return;
      } catch (error) {
        const raced =
          error instanceof ApiError &&
          (error.kind === "conflict" || error.kind === "alreadyExists");
        if (!raced || tries === MOST_TRIES) throw error;
      }
    }
  }

  #checkHolder(lease: Lease | undefined): void {
    const { identity } = this.#options;
    if (identity === undefined || (lease && holderOf(lease) === identity)) return;
    throw new ApiError(`annotate ${this.where}`, {
      kind: "conflict",
      reason: "another holder has it",
    });
  }

  #send(lease: Lease | undefined, value: string | undefined, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, name, key } = this.#options;
    const { [key]: _, ...others } = lease ? annotationsOf(lease) : {};
    const annotations = value === undefined ? others : { ...others, [key]: value };
    if (!lease) {
      const created: Lease = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { namespace, name, annotations },
        spec: {},
      };
      return client.create(created, signal);
    }
    const metadata = { ...lease.metadata, annotations };
    return client.update({ ...lease, metadata }, signal);
  }

  #valueOn(lease: Lease): string | undefined {
    const value = annotationsOf(lease)[this.#options.key];
    return typeof value === "string" ? value : undefined;
  }
}

function annotationsOf({ metadata }: Lease): Readonly<Record<string, unknown>> {
  const { annotations } = metadata;
  return typeof annotations === "object" && annotations !== null ? { ...annotations } : {};
}
