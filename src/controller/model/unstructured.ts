// Reading objects of the API as they come: everything may be absent or of another type than it should
// be, and nothing here throws. Records have no prototype, because "constructor" and "__proto__" are
// label and data keys like any other.

export type RawObject = {
  readonly metadata?: unknown;
  readonly type?: unknown;
  readonly data?: unknown;
  readonly binaryData?: unknown;
  readonly immutable?: unknown;
  readonly status?: unknown;
  readonly phase?: unknown;
  readonly namespace?: unknown;
  readonly name?: unknown;
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
  readonly creationTimestamp?: unknown;
  readonly deletionTimestamp?: unknown;
  readonly labels?: unknown;
  readonly annotations?: unknown;
  readonly finalizers?: unknown;
  readonly managedFields?: unknown;
  readonly manager?: unknown;
  readonly time?: unknown;
  readonly operation?: unknown;
  readonly subresource?: unknown;
  readonly fieldsV1?: unknown;
};

const NOTHING: RawObject = {};

export function objectOf(value: unknown): RawObject {
  return typeof value === "object" && value !== null ? value : NOTHING;
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const NO_TEXTS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** The string values of an object. `null` and absence are an empty record. */
export function stringsOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return NO_TEXTS;
  const texts: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text === "string") texts[key] = text;
  }
  return texts;
}
