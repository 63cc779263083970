// The result of every parser of user text: a value, or what is invalid. Parsers never throw.

export type Invalid = {
  /** The offending part as it was written. */
  readonly part: string;
  /** The valid form. */
  readonly expected: string;
};

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Invalid };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

const LONGEST_PART = 80;

/** A fault. Only the start of a long part is kept. */
export function invalid(part: string, expected: string): { ok: false; fault: Invalid } {
  const short = part.length > LONGEST_PART ? `${part.slice(0, LONGEST_PART)}...` : part;
  return { ok: false, fault: { part: detached(short), expected } };
}

/**
 * Copies the text into its own memory. V8 keeps a whole text for as long as a part cut out of it is kept, and
 * a tenant writes texts of 256 KiB.
 */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
