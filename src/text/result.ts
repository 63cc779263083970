// The answer of every parser of user text: a value, or what is wrong. Parsers never throw.

export type Invalid = {
  /** The offending part as it was written. */
  readonly part: string;
  /** What would be right. */
  readonly expected: string;
};

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Invalid };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

const LONGEST_PART = 80;

/** A fault; of a long part only the beginning is kept. */
export function invalid(part: string, expected: string): { ok: false; fault: Invalid } {
  const short = part.length > LONGEST_PART ? `${part.slice(0, LONGEST_PART)}...` : part;
  return { ok: false, fault: { part: detached(short), expected } };
}

/**
 * The same text in memory of its own. V8 keeps the whole of a text for as long as a piece cut out of
 * it is kept, and a tenant writes texts of 256 KiB.
 */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
