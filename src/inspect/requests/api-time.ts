// Times as the API server writes them, RFC 3339 with whole seconds, and as numbers.

/** Whole seconds since the epoch. Undefined for anything that is not a time. */
export function apiSeconds(time: unknown): number | undefined {
  if (typeof time !== "string") return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

/** `2026-11-25T17:51:38Z`. */
export function apiTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
