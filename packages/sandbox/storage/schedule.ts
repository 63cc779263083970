// Delayed calls as an argument, so that a test can step the time of a sandbox.

/** Calls `fn` after this delay. The returned function cancels the call. */
export type Schedule = (fn: () => void, ms: number) => () => void;

/** The longest delay of a timer: 24 days. A longer one would be over at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** By the clock of this machine. A waiting call does not keep the process alive. */
export function inRealTime(fn: () => void, ms: number): () => void {
  const timer = setTimeout(fn, Math.min(ms, LONGEST_MS));
  timer.unref();
  return () => clearTimeout(timer);
}
