// The data of sources, limited to a number of bytes: the entry that was unused for longest is evicted first.
// The caller reads a source that is not cached again. One version of each source is kept.
import { LruMap } from "../../../packages/kube/lru.ts";
import type { SourcePayload } from "../model/cluster.ts";

type Version = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Says which keys the data have, as the annotations of a version do. */
  readonly entry?: unknown;
};
type Held = Pick<Version, "resourceVersion" | "entry"> & {
  readonly payload: SourcePayload;
  readonly bytes: number;
};

export class DataCache {
  /** By UID. */
  readonly #held: LruMap<string, Held>;

  /** `most`: bytes. */
  constructor(most: number) {
    this.#held = new LruMap(most, { weigh: ({ bytes }) => bytes });
  }

  /** What it holds, in bytes of memory. */
  get bytes(): number {
    return this.#held.weight;
  }

  /** Replaces another version. An entry that is larger than the whole cache is not kept. */
  put({ uid, resourceVersion, entry }: Version, payload: SourcePayload): void {
    this.#held.set(uid, { resourceVersion, entry, payload, bytes: sizeOf(payload) });
  }

  /** Counts as a use. */
  get({ uid, resourceVersion, entry }: Version): SourcePayload | undefined {
    const held = this.#held.peek(uid);
    if (held?.resourceVersion !== resourceVersion || held.entry !== entry) return undefined;
    return this.#held.get(uid)?.payload;
  }

  /** Which version of a source is in it. */
  versionOf(uid: string): string | undefined {
    return this.#held.peek(uid)?.resourceVersion;
  }

  forget(uid: string): void {
    this.#held.delete(uid);
  }
}

// About what V8 adds to a key and its value: two headers, and their place in the object.
const ENTRY_BYTES = 64;
const PAYLOAD_BYTES = 512;

function sizeOf({ data, labels, annotations, copiedKeys }: SourcePayload): number {
  let bytes = PAYLOAD_BYTES + copiedKeys.length;
  // Base64 takes a byte a character. Other texts may take two.
  for (const [key, value] of Object.entries(data.reveal()))
    bytes += ENTRY_BYTES + key.length + data.heldBytes(value);
  for (const texts of [labels, annotations])
    for (const [key, value] of Object.entries(texts))
      bytes += ENTRY_BYTES + key.length + 2 * value.length;
  return bytes;
}
