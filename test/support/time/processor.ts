// The time of the processor that this thread has used, for tests of what may not take long. User and
// system together: the kernel knows only their sum exactly, and may count all of a short time as either.

/** In milliseconds, since the thread was started. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What `work` took of it. */
export function processorMsOf(work: () => unknown): number {
  const start = processorMs();
  work();
  return processorMs() - start;
}
