// Provides the source data that a write needs, from the cache or by one GET. All writes of that source share
// the GET while it is in flight. Promises: the data is of exactly the requested version. If a GET returns
// another version, that version is stored in the cache of objects.
import type { DataCache } from "../state/data-cache.ts";
import type { SourcePayload, SourceObject } from "../model/cluster.ts";
import { isKubeObject, compareVersions } from "../../../packages/kube/rest/resource.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Ref } from "../../text/names.ts";

export type SourceDataDeps = {
  readonly cache: DataCache;
  /** The raw object from the API server. Undefined if it does not exist. May reject. */
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

  /** Undefined if the source has another version by now or no longer exists. Rejects if it cannot be read. */
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

/** Whether a raw object is the planned object in the planned version. */
export function isVersion(
  raw: unknown,
  planned: { readonly uid: string; readonly resourceVersion: string },
): boolean {
  if (!isKubeObject(raw)) return false;
  const { uid, resourceVersion } = raw.metadata;
  return uid === planned.uid && resourceVersion === planned.resourceVersion;
}
