// The world of an API server as a watch of the judges' own shows it: Namespaces, Secrets and ConfigMaps, or
// some of them, or those of one namespace. Promises: what is told to `onChange` is told in the server's order
// for each kind. A watch that ends is begun anew at once, from where it was; of what came and went while
// no history was to be had, nothing is reported.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  resourcePath,
  SECRETS,
} from "../../../packages/kube/rest/resource.ts";
import { placeOf, slotOf, type Raw, type World } from "../model/raw.ts";

const RESOURCES = { Namespace: NAMESPACES, Secret: SECRETS, ConfigMap: CONFIG_MAPS } as const;
const KINDS = ["Namespace", "Secret", "ConfigMap"] as const;
type Kind = (typeof KINDS)[number];
type Event = { readonly type: string; readonly object: Raw };
type List = {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Raw[] | null;
};
/** Longer than any run. */
const WATCH_S = 4 * 3600;
/** Sooner than any controller begins its watches anew. */
const AGAIN_MS = 50;
const METADATA = (of: "" | "List"): string =>
  `application/json;as=PartialObjectMetadata${of};g=meta.k8s.io;v=v1`;

export type SeenWorldOptions = {
  readonly client: ApiClient;
  /** All kinds unless it says so; of all namespaces likewise. */
  readonly kinds?: readonly Kind[];
  readonly namespace?: string;
  /** Of large objects what they hold is not asked for. */
  readonly metadataOnly?: boolean;
  /** `raw` undefined: nothing is there any more. */
  readonly onChange: (slot: string, raw: Raw | undefined) => void;
  /** It follows no longer, and not because the server was away. */
  readonly onLost: (why: string) => void;
};

export class SeenWorld {
  /** By slot: a Namespace's is its name. */
  readonly objects = new Map<string, Raw>();
  readonly #options: SeenWorldOptions;
  readonly #kinds: readonly Kind[];
  readonly #followed = new Set<Kind>();
  #isLost = false;

  constructor(options: SeenWorldOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? KINDS;
  }

  /** What is there is known, and what changes is heard of. */
  get follows(): boolean {
    return this.#followed.size === this.#kinds.length;
  }

  /** Resolves when all that is there is known; goes on until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const kind of this.#kinds) {
      const lost = (why: unknown): void => {
        this.#isLost = true;
        if (!signal.aborted) this.#options.onLost(`the judge does not follow: ${String(why)}`);
      };
      void this.#follow(kind, signal).catch(lost);
    }
    while (!this.follows && !this.#isLost) await delay(AGAIN_MS, undefined, { signal });
  }

  worlds(): readonly World[] {
    const of = (kind: Kind): ReadonlyMap<string, Raw> => {
      const nameOf = (raw: Raw) => (kind === "Namespace" ? raw.metadata.name : placeOf(raw));
      return new Map(this.#ofKind(kind).map((raw) => [nameOf(raw), raw]));
    };
    const namespaces = of("Namespace");
    return (["Secret", "ConfigMap"] as const).map((kind) => {
      return { kind, namespaces, objects: of(kind) };
    });
  }

  async #follow(kind: Kind, signal: AbortSignal): Promise<void> {
    const path = resourcePath(RESOURCES[kind], this.#options.namespace);
    let from: string | undefined;
    for (; !signal.aborted; await delay(AGAIN_MS, undefined, { signal })) {
      try {
        const version = from ?? (await this.#list(kind, path));
        from = undefined;
        from = await this.#watch(kind, path, version, signal);
      } catch (error) {
        // The server is away or forgot what we had heard: what is there now is asked for.
        if (!(error instanceof ApiError)) throw error;
      } finally {
        this.#followed.delete(kind);
      }
    }
  }

  /** Resolves with the version from which to watch. */
  async #list(kind: Kind, path: string): Promise<string> {
    const { client, metadataOnly } = this.#options;
    const what = `list ${path} for the judge`;
    const request = {
      method: "GET",
      path,
      what,
      ...(metadataOnly && { accept: METADATA("List") }),
    };
    const { items, metadata } = await client.request<List>(request as ApiRequest);
    const gone = new Set(this.#ofKind(kind).map((raw) => slotOfKind(kind, raw)));
    // Of metadata an empty list has none.
    for (const raw of items ?? []) {
      const slot = slotOfKind(kind, raw);
      const known = this.objects.get(slot)?.metadata.resourceVersion;
      gone.delete(slot);
      if (raw.metadata.resourceVersion !== known) this.#note(slot, { ...raw, kind });
    }
    for (const slot of gone) this.#note(slot, undefined);
    return metadata.resourceVersion;
  }

  /** Resolves with the version from which to go on when the stream ends; undefined: from what is there. */
  async #watch(
    kind: Kind,
    path: string,
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, metadataOnly } = this.#options;
    const stream = await client.open({
      method: "GET",
      path,
      query: { watch: true, resourceVersion, timeoutSeconds: WATCH_S, allowWatchBookmarks: true },
      what: `follow ${path}`,
      signal,
      ...(metadataOnly && { accept: METADATA("") }),
    });
    this.#followed.add(kind);
    let last = resourceVersion;
    try {
      for await (const { type, object } of eventsOf(stream.body)) {
        if (type === "ERROR") return undefined;
        last = object.metadata.resourceVersion;
        if (type === "BOOKMARK") continue;
        this.#note(slotOfKind(kind, object), type === "DELETED" ? undefined : { ...object, kind });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    return last;
  }

  #ofKind(kind: Kind): readonly Raw[] {
    return [...this.objects.values()].filter((raw) => raw.kind === kind);
  }

  #note(slot: string, raw: Raw | undefined): void {
    if (raw) this.objects.set(slot, raw);
    else this.objects.delete(slot);
    this.#options.onChange(slot, raw);
  }
}

const slotOfKind = (kind: Kind, raw: Raw): string =>
  kind === "Namespace" ? raw.metadata.name : slotOf({ ...raw, kind });

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncIterable<Event> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Event;
  }
}
