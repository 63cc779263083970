// A write as a pool knows it, and what the pool asks about it.

export type PooledWrite = {
  readonly key: string;
  /** Approximate size of its body. Negligible when absent. */
  readonly bytes?: number;
  /** The target namespace. */
  readonly namespace?: string;
  /** The source object, including its kind. */
  readonly source?: string;
  /** The request only reads. */
  readonly reads?: boolean;
};

/** What the pool needs to know about the end of a write. */
export type WriteEnd = {
  readonly throttled: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly failed?: boolean;
};

/** Carries out a write. It must not reject: a failed write is an outcome. It ends soon after `signal` aborts. */
export type Perform<W> = (write: W, signal: AbortSignal) => Promise<WriteEnd>;
