// Builds a ClusterState from one read. Objects of the API are added one after the other, reduced like in
// the controller's caches, and never change. It also keeps what the commands need in addition: shapes for
// the diff, and the sources with the requested labels. It keeps no value of an unmanaged object or a copy.
import { randomBytes } from "node:crypto";
import { DataCache } from "../../controller/state/data-cache.ts";
import { createDigest, pullableDigest } from "../../controller/model/secret-data.ts";
import { createIntern, createShare } from "../../text/intern.ts";
import { readNamespace } from "../../controller/observed/read-namespace.ts";
import type { ReadContext } from "../../controller/observed/read-context.ts";
import { readObject, readPayload } from "../../controller/observed/read-object.ts";
import type { Ref } from "../../text/names.ts";
import { KINDS, placeKey, rulesOf, type ObjectKind } from "../../controller/model/kinds.ts";
import { objectOf, stringsOf } from "../../controller/model/unstructured.ts";
import { isNameRead } from "../../controller/annotations/name-scope.ts";
import type { Selector } from "../../text/label-selector.ts";
import type {
  CachedObject,
  ClusterState,
  Namespace,
  PlannerSettings,
  SourceObject,
  SourcePayload,
  UnmanagedObject,
} from "../../controller/model/cluster.ts";
import { NO_LIST, type ClusterList } from "./cluster-list.ts";
import { createShapes, type ObjectShape } from "./object-shape.ts";

export type PayloadShape = Pick<ObjectShape, "data" | "labels" | "annotations">;

export type BuilderOptions = {
  readonly settings: PlannerSettings;
  /** The kinds that take part. */
  readonly kinds: readonly ObjectKind[];
  /** Selects sources by their labels. Undefined selects all. */
  readonly selector?: Selector | undefined;
  readonly dataCacheBytes: number;
  /**
   * Whether shapes are kept. Computing a digest of every value takes long, and only a diff needs them.
   */
  readonly withShapes: boolean;
  /** Called with each object, as it is read. */
  readonly onObject?: ((object: CachedObject, raw: unknown, kind: ObjectKind) => void) | undefined;
};

export type TakingPart = Exclude<CachedObject, UnmanagedObject>;

type Objects = Map<string, Map<string, CachedObject>>;

const NO_OBJECTS: ReadonlyMap<string, CachedObject> = new Map();

export class ClusterBuilder {
  /** The source list must be set before objects are added, because it decides what is read of them. */
  list: ClusterList = NO_LIST;
  readonly kinds: readonly ObjectKind[];
  readonly #onlyNames: PlannerSettings["onlyNames"];
  readonly #contexts: ReadonlyMap<ObjectKind, ReadContext>;
  readonly #selector: Selector | undefined;
  readonly #data: DataCache;
  readonly #shapes: ReturnType<typeof createShapes> | undefined;
  readonly #onObject: BuilderOptions["onObject"];
  readonly #namespaces = new Map<string, Namespace>();
  readonly #objects: ReadonlyMap<ObjectKind, Objects>;
  readonly #ofObjects = new WeakMap<CachedObject, ObjectShape>();
  readonly #ofPayloads = new WeakMap<SourceObject, PayloadShape>();
  readonly #selected = new Set<string>();

  constructor(options: BuilderOptions) {
    const { settings, kinds, selector, dataCacheBytes, withShapes } = options;
    // The key makes digests meaningless outside this process.
    const digest = createDigest(randomBytes(32));
    const intern = createIntern();
    this.kinds = kinds;
    this.#onlyNames = settings.onlyNames;
    this.#selector = selector;
    this.#data = new DataCache(dataCacheBytes);
    this.#shapes = withShapes ? createShapes(digest) : undefined;
    this.#onObject = options.onObject;
    const contextOf = (kind: ObjectKind): ReadContext => ({
      kind: rulesOf(kind, settings),
      digest,
      intern,
      share: createShare(),
      copyable: settings,
      isSourceNamespace: (namespace) => settings.sourceNamespaces.matches(namespace),
      entryOf: (object) => {
        const list = this.list(kind);
        return list.state === "read" ? list.of(object) : undefined;
      },
      keep: (source, payload) => {
        this.#data.put(source, payload);
        if (this.#shapes) this.#ofPayloads.set(source, this.#shapes.ofPayload(payload));
      },
    });
    this.#contexts = new Map(kinds.map((kind) => [kind, contextOf(kind)]));
    this.#objects = new Map(kinds.map((kind) => [kind, new Map()]));
  }

  /** The number of added objects that can take part or be a conflict. */
  count(kind: ObjectKind): number {
    let count = 0;
    for (const { size } of this.#of(kind).values()) count += size;
    return count;
  }

  /** All objects of the kind that were added. */
  *objects(kind: ObjectKind): Generator<CachedObject> {
    for (const objects of this.#of(kind).values()) yield* objects.values();
  }

  get namespaces(): ReadonlyMap<string, Namespace> {
    return this.#namespaces;
  }

  addNamespace(raw: unknown): void {
    const namespace = readNamespace(raw);
    if (namespace) this.#namespaces.set(namespace.name, namespace);
  }

  addObject(kind: ObjectKind, raw: unknown): void {
    const context = this.#contexts.get(kind);
    const object = context && readObject(raw, context);
    if (!object || !isNameRead(this.#onlyNames, object.name)) return;
    const { namespace, name, role } = object;
    const objects = this.#of(kind);
    const there = objects.get(namespace) ?? new Map<string, CachedObject>();
    objects.set(namespace, there.set(name, object));
    if (role === "source") this.#select(kind, object, raw);
    this.#onObject?.(object, raw, kind);
    if (!this.#shapes) return;
    if (role === "copy" || role === "pull" || (role === "unmanaged" && object.adopt))
      this.#ofObjects.set(object, this.#shapes.ofObject(KINDS[kind], raw));
  }

  /** Drops the objects that are read again: all, or those of one namespace, of one name, or both. */
  forgetObjects(
    kind: ObjectKind,
    scope: { readonly namespace?: string | undefined; readonly name?: string | undefined } = {},
  ): void {
    const { namespace, name } = scope;
    for (const [each, objects] of this.#of(kind)) {
      if (namespace !== undefined && each !== namespace) continue;
      if (name === undefined) this.#of(kind).delete(each);
      else objects.delete(name);
    }
  }

  #of(kind: ObjectKind): Objects {
    return this.#objects.get(kind) ?? new Map();
  }

  #select(kind: ObjectKind, source: SourceObject, raw: unknown): void {
    const labels = stringsOf(objectOf(objectOf(raw).metadata).labels);
    if (this.#selector?.matches(labels)) this.#selected.add(placeKey(kind, source));
  }

  /** `unreadable` selects the namespaces that could not be read. They are not in the cluster state. */
  states(unreadable: (namespace: string) => boolean = () => false): readonly ClusterState[] {
    const known = [...this.#namespaces].filter(([name]) => !unreadable(name));
    const namespaces = new Map(known);
    return this.kinds.map((kind) => this.#state(kind, namespaces, unreadable));
  }

  #state(
    kind: ObjectKind,
    namespaces: ClusterState["namespaces"],
    unreadable: (namespace: string) => boolean,
  ): ClusterState {
    const all = this.#of(kind);
    const sources: CachedObject[] = [];
    const pulls: CachedObject[] = [];
    for (const objects of all.values())
      for (const object of objects.values()) {
        if (object.role === "source") sources.push(object);
        else if (object.role === "pull") pulls.push(object);
      }
    return {
      kind,
      namespaces,
      objectsIn: (namespace) => all.get(namespace) ?? NO_OBJECTS,
      sources,
      pulls,
      list: this.list(kind),
      pullableDigestOf: (source, keys) => {
        const digest = this.#contexts.get(kind)?.digest;
        return digest && pullableDigest(digest, this.#data.get(source)?.data, keys);
      },
      isUnreadable: unreadable,
    };
  }

  shapeOf(object: CachedObject): ObjectShape | undefined {
    return this.#ofObjects.get(object);
  }

  payloadShape(source: SourceObject): PayloadShape | undefined {
    return this.#ofPayloads.get(source);
  }

  /** The payload of a source, from the cache or with `read`. Undefined when the source has no payload. */
  async payloadOf(
    source: SourceObject,
    read: () => Promise<unknown>,
  ): Promise<SourcePayload | undefined> {
    const context = this.#contexts.get(source.kind);
    return this.#data.get(source) ?? (context && readPayload(await read(), source, context));
  }

  /** Whether this source has the requested labels. Always true without a selector. */
  isSelected(kind: ObjectKind, source: Ref): boolean {
    return this.#selector === undefined || this.#selected.has(placeKey(kind, source));
  }
}
