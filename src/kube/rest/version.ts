// Resource versions of one resource type are positive decimals that grow with every write, so the
// later of two is the longer one, or of equal length the greater by characters. Only for freshness;
// the API is never asked for a version that it did not name itself.

/** Negative when `a` is older than `b`, positive when newer; "" is older than any. */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
