// The bytes of a Secret or a ConfigMap, held so that no log line, error or JSON text can show them by accident, and
// the keyed digest by which two sets of them are compared without being kept.
// It does not hide them from code that asks: reveal() and revealFields() are the ways out, for the body of a write.
import { createHash, hash } from "node:crypto";
import { inspect } from "node:util";
import { filterKeys, type KeyFilter } from "../../text/key-filter.ts";
import { entryBytes, entryJsonSize, entryMemory, payloadFields, type KindRules } from "./kinds.ts";

const VEIL = "[secret]";

export class SecretData {
  readonly #kind: KindRules;
  readonly #entries: Readonly<Record<string, string>>;

  /** `entries`: as entriesOf reads them. */
  constructor(kind: KindRules, entries: Readonly<Record<string, string>>) {
    this.#kind = kind;
    this.#entries = entries;
  }

  /** The entries with their fields' tags. Only to filter and compare them and for the digest. */
  reveal(): Readonly<Record<string, string>> {
    return this.#entries;
  }

  /** The maps of the object, as the API server writes them. Only for the body of a request. */
  revealFields(): ReturnType<typeof payloadFields> {
    return payloadFields(this.#kind, this.#entries);
  }

  keys(): readonly string[] {
    return Object.keys(this.#entries);
  }

  /** Decoded size of the values in bytes. */
  bytes(): number {
    let total = 0;
    for (const value of Object.values(this.#entries)) total += entryBytes(this.#kind, value);
    return total;
  }

  /** Size of the values in the JSON of the API server, in bytes. */
  jsonSize(): number {
    let total = 0;
    for (const value of Object.values(this.#entries)) total += entryJsonSize(this.#kind, value);
    return total;
  }

  /** What an entry of it takes in memory, at most. */
  heldBytes(entry: string): number {
    return entryMemory(this.#kind, entry);
  }

  toString(): string {
    return VEIL;
  }

  toJSON(): string {
    return VEIL;
  }

  [inspect.custom](): string {
    return VEIL;
  }
}

const LONGEST_JOINED = 16_384;

/** Turns a list of texts into one short text. Equal lists and no others give equal texts. */
export type Digest = (parts: readonly string[]) => string;

/**
 * SHA-256 over a secret prefix and length-prefixed parts. `key`: random bytes of this process. The
 * result means nothing outside of it and never leaves it. It proves nothing to anybody, so it need not be
 * an HMAC, which took 7 µs where this takes 2. It is computed twice for each copy that is read.
 */
export function createDigest(key: Uint8Array): Digest {
  const secret = Buffer.from(key).toString("hex");
  return (parts) => {
    // One text of them all would be garbage of their size twice over, for each Secret that is read.
    if (parts.some(({ length }) => length > LONGEST_JOINED)) {
      const hashing = createHash("sha256").update(`${secret} `);
      for (const part of parts) hashing.update(`${part.length}:`).update(part);
      return hashing.digest("base64");
    }
    const text = parts.map((part) => `${part.length}:${part}`).join("");
    return hash("sha256", `${secret} ${text}`, "base64");
  };
}

/** The digest of a Secret's data. The order of the keys does not matter. */
export function digestData(digest: Digest, entries: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const key of Object.keys(entries).toSorted()) parts.push(key, entries[key] ?? "");
  return digest(parts);
}

/** The digest of the entries of `data` that `keys` select, or undefined without entries. */
export function pullableDigest(
  digest: Digest,
  data: SecretData | undefined,
  keys: KeyFilter,
): string | undefined {
  const offered = data && filterKeys(keys, data.reveal());
  return offered?.ok ? digestData(digest, offered.value) : undefined;
}
