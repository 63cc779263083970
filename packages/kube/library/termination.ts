// The end of a process as a signal. Promises: the first SIGTERM or SIGINT aborts it. A second one ends the
// process at once with exit code 1, whatever is still running.

/** Aborts at the first SIGTERM or SIGINT. A second one ends the process. Call it once, at the start. */
export function terminationSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    // The outcome of requests in flight is unknown, but none is half-written.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return stop.signal;
}
