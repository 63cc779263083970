// The world of a real API server as a watch of the judge's own shows it: Namespaces, Secrets, ConfigMaps.
// Promises: what is told to `onChange` is told in the server's order for each kind; a watch that ends
// before it should is told to `onLost`.
import type { ApiClient } from "../../src/kube/rest/api-client.ts";
import { CONFIG_MAPS, NAMESPACES, resourcePath, SECRETS } from "../../src/kube/rest/resource.ts";
import { placeOf, slotOf, type Raw, type World } from "./raw.ts";

const RESOURCES = { Namespace: NAMESPACES, Secret: SECRETS, ConfigMap: CONFIG_MAPS } as const;
type Kind = keyof typeof RESOURCES;
type Event = { readonly type: string; readonly object: Raw };
/** Longer than any run. */
const WATCH_S = 4 * 3600;

export type SeenWorldOptions = {
  readonly client: ApiClient;
  /** `raw` undefined: nothing is there any more. */
  readonly onChange: (slot: string, raw: Raw | undefined) => void;
  readonly onLost: (why: string) => void;
};

export class SeenWorld {
  /** By slot: a Namespace's is its name. */
  readonly objects = new Map<string, Raw>();
  readonly #options: SeenWorldOptions;

  constructor(options: SeenWorldOptions) {
    this.#options = options;
  }

  /** Resolves when all that is there is known; goes on until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const kind of ["Namespace", "Secret", "ConfigMap"] as const)
      await this.#follow(kind, signal);
  }

  worlds(): readonly World[] {
    const all = [...this.objects.values()];
    const of = (kind: Kind): ReadonlyMap<string, Raw> => {
      const placed = all.filter((raw) => raw.kind === kind);
      const nameOf = (raw: Raw) => (kind === "Namespace" ? raw.metadata.name : placeOf(raw));
      return new Map(placed.map((raw) => [nameOf(raw), raw]));
    };
    const namespaces = of("Namespace");
    return (["Secret", "ConfigMap"] as const).map((kind) => {
      return { kind, namespaces, objects: of(kind) };
    });
  }

  async #follow(kind: Kind, signal: AbortSignal): Promise<void> {
    const { client, onLost } = this.#options;
    const path = resourcePath(RESOURCES[kind]);
    const what = `follow ${path}`;
    const list = await client.request<{
      readonly metadata: { readonly resourceVersion: string };
      readonly items: readonly Raw[];
    }>({ method: "GET", path, what });
    for (const raw of list.items) this.#noted(kind, raw, true);
    const { resourceVersion } = list.metadata;
    const query = { watch: true, resourceVersion, timeoutSeconds: WATCH_S };
    const stream = await client.open({ method: "GET", path, query, what, signal });
    const lost = (why: unknown): void => {
      if (!signal.aborted) onLost(`the judge's own watch ended: ${String(why)}`);
    };
    void this.#hear(kind, stream.body).then(() => lost("by the server"), lost);
  }

  async #hear(kind: Kind, body: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as Event;
        if (type === "ERROR") throw new Error("it says ERROR");
        this.#noted(kind, object, type !== "DELETED");
      }
    }
  }

  #noted(kind: Kind, object: Raw, there: boolean): void {
    const raw = { ...object, kind };
    const slot = kind === "Namespace" ? raw.metadata.name : slotOf(raw);
    if (there) this.objects.set(slot, raw);
    else this.objects.delete(slot);
    this.#options.onChange(slot, there ? raw : undefined);
  }
}
