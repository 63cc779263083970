// What a write needs of its source: out of the cache of source data, or read again by one GET, which
// all writes of that source share while it is under way.
// Promises: what it gives is of the very version asked for; what a GET brings of another version goes
// into the cache of objects.
import type { DataCache } from "../state/data-cache.ts";
import type { SourcePayload, SourceObject } from "../model/cluster.ts";
import { isKubeObject, compareVersions } from "../../kube/rest/resource.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Ref } from "../../text/names.ts";

export type SourceDataDeps = {
  readonly cache: DataCache;
  /** The raw object as the API server has it; undefined: there is none. May reject. */
  readonly get: (kind: ObjectKind, place: Ref) => Promise<unknown>;
  readonly read: (raw: unknown, source: SourceObject) => SourcePayload | undefined;
  readonly remember: (kind: ObjectKind, raw: unknown) => void;
  /** A source was read again. */
  readonly onRead: () => void;
};

export class SourceData {
  readonly #deps: SourceDataDeps;
  readonly #reads = new Map<string, Promise<SourcePayload | undefined>>();

  constructor(deps: SourceDataDeps) {
    this.#deps = deps;
  }

  /** undefined: there is another version by now, or none. Rejects when it cannot be read. */
  async payload(source: SourceObject): Promise<SourcePayload | undefined> {
    const { cache } = this.#deps;
    const payload = cache.get(source);
    if (payload) return payload;
    const held = cache.versionOf(source.uid);
    if (held !== undefined && compareVersions(held, source.resourceVersion) > 0) return undefined;
    const key = `${source.uid} ${source.resourceVersion} ${source.entry?.key} ${source.entry?.text}`;
    const reading = this.#reads.get(key) ?? this.#read(source);
    this.#reads.set(key, reading);
    try {
      return await reading;
    } finally {
      this.#reads.delete(key);
    }
  }

  async #read(source: SourceObject): Promise<SourcePayload | undefined> {
    const { get, read, remember, cache, onRead } = this.#deps;
    onRead();
    const { kind, namespace, name } = source;
    const raw = await get(kind, { namespace, name });
    if (isVersion(raw, source)) {
      const payload = read(raw, source);
      if (payload) cache.put(source, payload);
      return payload;
    }
    if (raw !== undefined) remember(kind, raw);
    return undefined;
  }
}

/** Whether a raw object is the one, in the version, that was planned with. */
export function isVersion(
  raw: unknown,
  planned: { readonly uid: string; readonly resourceVersion: string },
): boolean {
  if (!isKubeObject(raw)) return false;
  const { uid, resourceVersion } = raw.metadata;
  return uid === planned.uid && resourceVersion === planned.resourceVersion;
}
