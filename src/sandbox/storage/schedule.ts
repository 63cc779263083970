// Delayed calls as an argument, so that a test can step the time of a sandbox.

/** Calls `fn` after this delay. The returned function cancels the call. */
export type Schedule = (fn: () => void, ms: number) => () => void;

/** By the clock of this machine. A waiting call does not keep the process alive. */
export function inRealTime(fn: () => void, ms: number): () => void {
  const timer = setTimeout(fn, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
