// The world of a real API server as a watch of the judge's own shows it: Namespaces, Secrets, ConfigMaps.
// Promises: what is told to `onChange` is told in the server's order for each kind. A watch that ends is
// begun anew at once; of what came and went while no history was to be had, nothing is told.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../../src/kube/rest/api-client.ts";
import { ApiError } from "../../../src/kube/rest/api-error.ts";
import { CONFIG_MAPS, NAMESPACES, resourcePath, SECRETS } from "../../../src/kube/rest/resource.ts";
import { placeOf, slotOf, type Raw, type World } from "../model/raw.ts";

const RESOURCES = { Namespace: NAMESPACES, Secret: SECRETS, ConfigMap: CONFIG_MAPS } as const;
const KINDS = ["Namespace", "Secret", "ConfigMap"] as const;
type Kind = (typeof KINDS)[number];
type Event = { readonly type: string; readonly object: Raw };
type List = {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Raw[];
};
/** Longer than any run. */
const WATCH_S = 4 * 3600;
/** Sooner than any controller begins its watches anew. */
const AGAIN_MS = 50;

export type SeenWorldOptions = {
  readonly client: ApiClient;
  /** `raw` undefined: nothing is there any more. */
  readonly onChange: (slot: string, raw: Raw | undefined) => void;
  /** It follows no longer, and not because the server was away. */
  readonly onLost: (why: string) => void;
};

export class SeenWorld {
  /** By slot: a Namespace's is its name. */
  readonly objects = new Map<string, Raw>();
  readonly #options: SeenWorldOptions;
  readonly #followed = new Set<Kind>();

  constructor(options: SeenWorldOptions) {
    this.#options = options;
  }

  /** What is there is known, and what changes is heard of. */
  get follows(): boolean {
    return this.#followed.size === KINDS.length;
  }

  /** Resolves when all that is there is known; goes on until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const kind of KINDS) {
      const lost = (why: unknown): void => {
        if (!signal.aborted) this.#options.onLost(`the judge does not follow: ${String(why)}`);
      };
      void this.#follow(kind, signal).catch(lost);
    }
    while (!this.follows) await delay(AGAIN_MS, undefined, { signal });
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
    for (; !signal.aborted; await delay(AGAIN_MS, undefined, { signal })) {
      try {
        await this.#watch(kind, await this.#list(kind), signal);
      } catch (error) {
        // The server is away or forgot what we had heard: what is there now is asked for.
        if (!(error instanceof ApiError)) throw error;
      } finally {
        this.#followed.delete(kind);
      }
    }
  }

  /** Resolves with the version from which to watch. */
  async #list(kind: Kind): Promise<string> {
    const path = resourcePath(RESOURCES[kind]);
    const request = { method: "GET", path, what: `list ${path} for the judge` } as const;
    const { items, metadata } = await this.#options.client.request<List>(request);
    const gone = new Set(this.#ofKind(kind).map((raw) => slotOfKind(kind, raw)));
    for (const raw of items) {
      const slot = slotOfKind(kind, raw);
      const known = this.objects.get(slot)?.metadata.resourceVersion;
      gone.delete(slot);
      if (raw.metadata.resourceVersion !== known) this.#note(slot, { ...raw, kind });
    }
    for (const slot of gone) this.#note(slot, undefined);
    return metadata.resourceVersion;
  }

  async #watch(kind: Kind, resourceVersion: string, signal: AbortSignal): Promise<void> {
    const path = resourcePath(RESOURCES[kind]);
    const query = { watch: true, resourceVersion, timeoutSeconds: WATCH_S };
    const what = `follow ${path}`;
    const stream = await this.#options.client.open({ method: "GET", path, query, what, signal });
    this.#followed.add(kind);
    for await (const { type, object } of eventsOf(stream.body)) {
      if (type === "ERROR") return;
      this.#note(slotOfKind(kind, object), type === "DELETED" ? undefined : { ...object, kind });
    }
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
