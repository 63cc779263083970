// A ClusterState for one look: objects of the API are taken in one after the other, reduced as the
// controller's caches do, and never change. Beside it what a command line wants to know more: outlines
// for the diff, and which sources carry the labels that were asked for. No value of a stranger or a
// copy is kept.
import { randomBytes } from "node:crypto";
import { DataCache } from "../../core/state/data-cache.ts";
import { createDigest, digestData } from "../../core/model/secret-data.ts";
import { createIntern, createShare } from "../../core/observed/intern.ts";
import { readNamespace } from "../../core/observed/read-namespace.ts";
import { readObject, readPayload, type ReadContext } from "../../core/observed/read-object.ts";
import { filterKeys } from "../../core/annotations/key-filter.ts";
import { refText } from "../../core/annotations/names.ts";
import { KINDS } from "../../core/model/kinds.ts";
import { objectOf, stringsOf } from "../../core/model/unstructured.ts";
import type { Selector } from "../../core/annotations/label-selector.ts";
import type {
  CachedObject,
  ClusterState,
  Namespace,
  PlannerSettings,
  SourceObject,
  SourcePayload,
} from "../../core/model/cluster.ts";
import { createOutlines, type ObjectOutline } from "./object-outline.ts";

export type PayloadOutline = Pick<ObjectOutline, "data" | "labels" | "annotations">;

export type BuilderOptions = {
  readonly settings: PlannerSettings;
  /** Over the labels of sources; undefined: all. */
  readonly selector?: Selector | undefined;
  readonly dataCacheBytes: number;
};

const NO_OBJECTS: ReadonlyMap<string, CachedObject> = new Map();

export class WorldBuilder {
  readonly #context: ReadContext;
  readonly #selector: Selector | undefined;
  readonly #data: DataCache;
  readonly #outlines: ReturnType<typeof createOutlines>;
  readonly #namespaces = new Map<string, Namespace>();
  readonly #objects = new Map<string, Map<string, CachedObject>>();
  readonly #ofObjects = new WeakMap<CachedObject, ObjectOutline>();
  readonly #ofPayloads = new WeakMap<SourceObject, PayloadOutline>();
  readonly #selected = new Set<string>();

  constructor({ settings, selector, dataCacheBytes }: BuilderOptions) {
    // The key makes digests meaningless outside this process.
    const digest = createDigest(randomBytes(32));
    const intern = createIntern();
    this.#selector = selector;
    this.#data = new DataCache(dataCacheBytes);
    this.#outlines = createOutlines(digest);
    this.#context = {
      kind: KINDS.Secret,
      digest,
      intern,
      share: createShare(),
      copyable: settings,
      isSourceNamespace: (namespace) => settings.sourceNamespaces.matches(namespace),
      keep: (source, payload) => {
        this.#data.put(source, payload);
        this.#ofPayloads.set(source, this.#outlines.ofPayload(payload));
      },
    };
  }

  /** How many objects were taken in that can take part or be in the way. */
  get count(): number {
    let count = 0;
    for (const { size } of this.#objects.values()) count += size;
    return count;
  }

  get namespaces(): ReadonlyMap<string, Namespace> {
    return this.#namespaces;
  }

  addNamespace(raw: unknown): void {
    const namespace = readNamespace(raw);
    if (namespace) this.#namespaces.set(namespace.name, namespace);
  }

  addObject(raw: unknown): void {
    const object = readObject(raw, this.#context);
    if (!object) return;
    const { namespace, name, role } = object;
    const there = this.#objects.get(namespace) ?? new Map<string, CachedObject>();
    this.#objects.set(namespace, there.set(name, object));
    if (role === "source") this.#select(object, raw);
    if (role === "copy" || role === "pull" || (role === "stranger" && object.adopt))
      this.#ofObjects.set(object, this.#outlines.ofObject(raw));
  }

  /** What was taken in comes again; `namespace`: only what is in it. */
  forgetObjects(namespace?: string): void {
    if (namespace === undefined) this.#objects.clear();
    else this.#objects.delete(namespace);
  }

  #select(source: SourceObject, raw: unknown): void {
    const labels = stringsOf(objectOf(objectOf(raw).metadata).labels);
    if (this.#selector?.matches(labels)) this.#selected.add(refText(source));
  }

  /** `unreadable`: namespaces that could not be read; they are not in the world. */
  state(unreadable: ReadonlySet<string> = new Set()): ClusterState {
    const sources: CachedObject[] = [];
    const pulls: CachedObject[] = [];
    for (const objects of this.#objects.values())
      for (const object of objects.values()) {
        if (object.role === "source") sources.push(object);
        else if (object.role === "pull") pulls.push(object);
      }
    const known = [...this.#namespaces].filter(([name]) => !unreadable.has(name));
    return {
      kind: this.#context.kind.kind,
      namespaces: new Map(known),
      objectsIn: (namespace) => this.#objects.get(namespace) ?? NO_OBJECTS,
      sources,
      pulls,
      offerOf: (source, keys) => {
        const payload = this.#data.get(source);
        const offered = payload && filterKeys(keys, payload.data.reveal());
        return offered?.ok ? digestData(this.#context.digest, offered.value) : undefined;
      },
      isUnreadable: (namespace) => unreadable.has(namespace),
    };
  }

  outlineOf(object: CachedObject): ObjectOutline | undefined {
    return this.#ofObjects.get(object);
  }

  payloadOutline(source: SourceObject): PayloadOutline | undefined {
    return this.#ofPayloads.get(source);
  }

  /** What a source gives, out of the cache or by `look`; undefined: it gives nothing. */
  async payloadOf(
    source: SourceObject,
    look: () => Promise<unknown>,
  ): Promise<SourcePayload | undefined> {
    return this.#data.get(source) ?? readPayload(await look(), source, this.#context);
  }

  /** Whether the labels that were asked for are on this source; without a selector all are meant. */
  isSelected(source: string): boolean {
    return this.#selector === undefined || this.#selected.has(source);
  }
}
