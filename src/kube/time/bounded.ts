// A bound in time around something that waits for a network.
// Promises: settles within `ms` whatever the inner call does, and tells the inner call by its signal.
// Does not promise that the inner call stopped: an aborted request may still take effect.
import type { Clock } from "./clock.ts";
import { abandonable, Deadline } from "./deadline.ts";

class DeadlineError extends Error {
  override readonly name = "DeadlineError";
  readonly kind = "timeout";

  constructor(ms: number) {
    super(`No answer within ${Math.round(ms)} ms`);
  }
}

/** Rejects with DeadlineError after `ms`, or as soon as `signal` aborts. */
export async function withTimeout<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const deadline = new Deadline(clock, ms, signal);
  try {
    return await abandonable(run(deadline.signal), deadline.signal);
  } catch (error) {
    throw deadline.expired ? new DeadlineError(ms) : error;
  } finally {
    deadline.release();
  }
}
