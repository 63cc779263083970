// The program as the explorer drives it, and the only file here that knows how it is built: caches from
// raw objects, one plan, one action with the real writer, what is remembered of its outcome, and a copy and
// the canonical text of all that. Everything is in one process, without sockets and timers.
import { parseEntry, type ListEntry } from "../../src/controller/annotations/list-entry.ts";
import { SourceList } from "../../src/controller/annotations/source-list.ts";
import { isNameRead } from "../../src/controller/annotations/name-scope.ts";
import { sourceRank } from "../../src/controller/desired/namespace-rules.ts";
import type { Action } from "../../src/controller/model/actions.ts";
import type {
  CachedObject,
  ClusterState,
  ListState,
  Namespace,
  PlannerSettings,
  SourcePayload,
} from "../../src/controller/model/cluster.ts";
import { placeKey, rulesOf, type ObjectKind } from "../../src/controller/model/kinds.ts";
import { pullableDigest } from "../../src/controller/model/secret-data.ts";
import type { Plan } from "../../src/controller/model/verdicts.ts";
import { readListState, unusableListState } from "../../src/controller/observed/list-state.ts";
import type { ReadContext } from "../../src/controller/observed/read-context.ts";
import { readList } from "../../src/controller/observed/read-list.ts";
import { readNamespace } from "../../src/controller/observed/read-namespace.ts";
import { readObject, readPayload } from "../../src/controller/observed/read-object.ts";
import { DataCache } from "../../src/controller/state/data-cache.ts";
import { PlannerMemory } from "../../src/controller/state/planner-memory.ts";
import { ClusterEvents } from "../../src/controller/sync/cluster-events.ts";
import { isUntouched, stillHolds, withLatest } from "../../src/controller/writes/action-write.ts";
import { Apply } from "../../src/controller/writes/apply.ts";
import {
  recordLookup,
  recordOutcome,
  type WrittenCaches,
} from "../../src/controller/writes/outcome.ts";
import { Reachability } from "../../packages/kube/rest/reachability.ts";
import type { ApiClient, ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { refText, type Ref } from "../../src/text/names.ts";
import { runPlan, settingsOf, globs } from "../support/planner/planner-cluster.ts";
import { GlobList } from "../../src/text/globs.ts";
import { copyOf, keep, keepInstances, textOf, type Naming } from "./snapshot.ts";
import { askedFor, type RawObject } from "./server.ts";
import { statusError } from "../../packages/kube/rest/api-error.ts";
import type { Wall } from "./faults.ts";

export const GRACE_MS = 12 * 3600_000;
export const HOLD_MS = 240 * 3600_000;
export const LIST_SLOT = "ConfigMap secretcast/secretcast-sources";

/** What a domain says of the flags. */
export type Settings = {
  readonly kind: ObjectKind;
  readonly policy: "opt-out" | "opt-in";
  readonly sourceNamespaces: string;
  readonly onlyNames?: readonly string[] | undefined;
};

/** What one process has: what its watches have shown, and what it remembers. */
export type Process = {
  /** By slot, as the server had it: a Namespace's slot is its name. */
  readonly shown: ReadonlyMap<string, RawObject>;
  readonly memory: PlannerMemory;
};

export const newProcess = (
  shown: ReadonlyMap<string, RawObject>,
  before?: PlannerMemory,
): Process => ({
  shown: new Map(shown),
  memory: (wall.remembers && before) || new PlannerMemory(),
});
export const copyOfProcess = ({ shown, memory }: Process): Process => ({
  shown: new Map(shown),
  memory: copyOf(memory),
});

export type Planned = Plan;
export type PlannedAction = Action;

/** The planted fault. */
let wall: Wall = {};
export const plant = (planted: Wall): void => {
  wall = planted;
};

/** What it asks of its surroundings. */
export type Around = {
  readonly now: () => number;
  /** Rejects with an ApiError. */
  readonly request: (request: ApiRequest) => Promise<unknown>;
};

const digest = (parts: readonly string[]): string => parts.join("\u0001");
const payloads = new WeakMap<object, SourcePayload>();
const settingsBy = new WeakMap<Settings, PlannerSettings>();

class AllData extends DataCache {
  constructor() {
    super(1);
  }
  override put(source: object, payload: SourcePayload): void {
    payloads.set(source, payload);
  }
  override get(source: object): SourcePayload | undefined {
    return payloads.get(source);
  }
  override versionOf(): undefined {
    return undefined;
  }
  override forget(): void {}
}
const data = new AllData();
keepInstances(GlobList);

function plannerSettings(settings: Settings): PlannerSettings {
  const known = settingsBy.get(settings);
  if (known) return known;
  const made = keep(
    settingsOf({
      namespacePolicy: settings.policy,
      sourceNamespaces: globs(settings.sourceNamespaces),
      namedSources: globs(settings.sourceNamespaces),
      deleteGraceMs: GRACE_MS / (wall.shortens ?? 1),
      deleteHoldMs: HOLD_MS / (wall.shortens ?? 1),
      onlyNames: settings.onlyNames && new Set(settings.onlyNames),
    }),
  );
  settingsBy.set(settings, made);
  return made;
}

const entries = new Map<string, ListEntry>();
const lists = new WeakMap<RawObject, SourceList>();
const reduced = new WeakMap<RawObject, Map<ListEntry | undefined, CachedObject | undefined>>();
const namespacesRead = new WeakMap<RawObject, Namespace | undefined>();
const random = 0.5;

export class Subject {
  readonly #settings: Settings;
  readonly #around: Around;
  readonly #clock: () => number;
  readonly #planner: PlannerSettings;
  readonly #shown: Map<string, RawObject>;
  readonly memory: PlannerMemory;
  /** What the process reduced when it was shown; its entry is as of then. */
  readonly #objects = new Map<string, CachedObject>();
  readonly #namespaces = new Map<string, Namespace>();
  readonly #events: ClusterEvents;
  readonly #apply: Apply;
  readonly #caches: WrittenCaches;
  readonly #state: ClusterState;
  #list: RawObject | undefined;

  constructor(settings: Settings, { shown, memory }: Process, around: Around) {
    this.#settings = settings;
    this.#around = { ...around, now: () => this.#now() };
    this.#clock = around.now;
    this.#planner = plannerSettings(settings);
    this.#shown = shown as Map<string, RawObject>;
    this.memory = memory;
    this.#list = shown.get(LIST_SLOT);
    for (const [slot, raw] of shown) this.#take(slot, raw);
    const objects = this.#objects;
    const ofRole = (role: CachedObject["role"]): readonly CachedObject[] =>
      [...objects.values()].filter((object) => object.role === role);
    const listState = (): ListState => this.#listState();
    this.#caches = {
      of: (kind) => ({
        get: (ref) => this.#objects.get(`${kind} ${refText(ref)}`),
        remember: (raw) => {
          const object = raw as RawObject | undefined;
          if (object) this.#show(`${kind} ${refText(object.metadata as Ref)}`, object);
          return object && this.#objects.get(`${kind} ${refText(object.metadata as Ref)}`);
        },
        read: (raw) => (raw === undefined ? undefined : this.#reduce(raw as RawObject)),
        forget: (namespace, name, uid) => this.#forget(`${kind} ${namespace}/${name}`, uid),
      }),
      namespace: (name) => this.#namespaces.get(name),
      rememberNamespace: (raw) => this.#show((raw as RawObject).metadata.name, raw as RawObject),
      forgetNamespace: (name, uid) => this.#forget(name, uid),
      namespaceRefused: () => {},
    };
    this.#state = {
      kind: settings.kind,
      get list() {
        return listState();
      },
      namespaces: this.#namespaces,
      objectsIn: (namespace) => {
        const found = new Map<string, CachedObject>();
        for (const object of objects.values())
          if (object.namespace === namespace) found.set(object.name, object);
        return found;
      },
      get sources() {
        return ofRole("source");
      },
      get pulls() {
        return ofRole("pull");
      },
      unreadableNames: () => new Set(),
      pullableDigestOf: (source, keys) => pullableDigest(digest, payloads.get(source)?.data, keys),
    };
    this.#events = new ClusterEvents(
      {
        clusterStates: [this.#state],
        memory,
        clock: { monotonic: this.#around.now },
        caches: this.#caches,
        hooks: [],
      },
      {
        inFlight: new Map(),
      },
    );
    this.#events.planned();
    this.#apply = new Apply({
      client: client((request) => this.#request(request)),
      writeDeadlineMs: () => 60_000,
      onWrite: () => {},
      onLiveRead: (liveRead, result) =>
        recordLookup(liveRead, result, {
          memory,
          caches: this.#caches,
          now: this.#now(),
          random,
          list: {
            remember: (raw) => this.#show(LIST_SLOT, raw as RawObject),
            forget: (uid) => this.#forget(LIST_SLOT, uid),
          },
        }),
      isReserved: () => false,
      onReplace: ({ objectKind: kind, place, source }) =>
        memory.shared.reservations.note({ kind, place, source }),
      forget: (kind, place, uid) => this.#caches.of(kind).forget(place.namespace, place.name, uid),
      remember: (kind, raw) => void this.#caches.of(kind).remember(raw),
      read: (kind, raw) => this.#caches.of(kind).read(raw),
      sources: {
        cache: data,
        read: (raw, source) => readPayload(raw, source, this.#context),
        onRead: () => {},
      },
    });
  }

  /** A watch shows what is at a slot. */
  deliver(slot: string, raw: RawObject | undefined): void {
    const { kind } = this.#settings;
    if (this.#shown.get(slot) === raw || wall.isDeaf?.(slot)) return;
    const [before, home] = [this.#objects.get(slot), this.#namespaces.get(slot)];
    if (raw) this.#show(slot, raw);
    else this.#forget(slot);
    if (slot === LIST_SLOT) this.#events.listChanged();
    else if (!slot.includes(" ")) this.#events.namespaceChanged(slot, home);
    else if (slot.startsWith(kind)) this.#events.concerns(kind, before, this.#objects.get(slot));
  }

  plan(): Planned {
    this.#events.planned();
    return runPlan([this.#state], this.#planner, this.memory, this.#around.now(), new Set());
  }

  /** False: the process did not live to remember the outcome. */
  async perform(planned: PlannedAction, lives: () => boolean): Promise<void> {
    const latest = {
      caches: this.#caches,
      entryOf: (_: ObjectKind, object: Ref) => this.#entryOf(object),
    };
    // What an event has overtaken by now is not begun.
    if (!isUntouched(planned, this.#caches) || !stillHolds(planned, latest)) return;
    const changed = wall.act ? wall.act(planned) : planned;
    if (!changed) return;
    const action = withLatest(changed, latest);
    const { liveReads } = this.memory.shared;
    const asked = action.kind === "confirm" ? action.liveReads : [];
    liveReads.began(asked);
    const isDecisionChanged = (): boolean => !wall.goesOn && !stillHolds(action, latest);
    const outcome = await this.#apply.perform(action, { isDecisionChanged });
    if (!lives()) return;
    liveReads.ended(asked);
    const now = this.#around.now();
    recordOutcome(outcome, { memory: this.memory, caches: this.#caches, now, random });
  }

  #now(): number {
    return this.#clock();
  }

  async #request(request: ApiRequest): Promise<unknown> {
    const sent = wall.send ? wall.send(request) : request;
    if (!wall.readsCache || sent.method !== "GET") return this.#around.request(sent);
    await this.#around.request(sent).catch(() => {});
    const { slot, plural, name } = askedFor(sent);
    const shown = this.#shown.get(slot);
    if (shown) return shown;
    const details = { kind: plural, name };
    const message = `${plural} "${name}" not found`;
    throw statusError(sent.what, 404, {
      kind: "Status",
      code: 404,
      reason: "NotFound",
      message,
      details,
    });
  }

  #show(slot: string, raw: RawObject): void {
    const shown = this.#shown.get(slot);
    if (
      shown &&
      shown.metadata.uid === raw.metadata.uid &&
      shown.metadata.resourceVersion > raw.metadata.resourceVersion
    )
      return;
    this.#shown.set(slot, raw);
    if (slot === LIST_SLOT) this.#list = raw;
    this.#take(slot, raw);
  }

  #take(slot: string, raw: RawObject): void {
    if (!slot.includes(" ")) {
      const namespace = namespacesRead.get(raw) ?? readNamespace(seen(raw));
      if (namespace) this.#namespaces.set(slot, keep(namespace));
      namespacesRead.set(raw, namespace);
      return;
    }
    const [kind] = slot.split(" ");
    if (kind !== this.#settings.kind || !isNameRead(this.#planner.onlyNames, raw.metadata.name))
      return;
    const object = this.#reduce(raw);
    if (object) this.#objects.set(slot, object);
    else this.#objects.delete(slot);
  }

  #forget(slot: string, uid?: string): void {
    if (uid !== undefined && this.#shown.get(slot)?.metadata.uid !== uid) return;
    this.#shown.delete(slot);
    this.#objects.delete(slot);
    this.#namespaces.delete(slot);
    if (slot === LIST_SLOT) this.#list = undefined;
  }

  #reduce(raw: RawObject): CachedObject | undefined {
    const { namespace = "", name } = raw.metadata;
    const entry = this.#entryOf({ namespace, name });
    const known = reduced.get(raw) ?? new Map<ListEntry | undefined, CachedObject | undefined>();
    reduced.set(raw, known);
    if (known.has(entry)) return known.get(entry);
    const object = readObject(seen(raw), this.#context);
    if (object) keep(object);
    known.set(entry, object);
    return object;
  }

  get #context(): ReadContext {
    const { kind } = this.#settings;
    const planner = this.#planner;
    return {
      kind: rulesOf(kind, planner),
      digest,
      intern: (text) => text,
      share: (_, template) => template,
      isSourceNamespace: (namespace) => sourceRank(planner, namespace) >= 0,
      copyable: planner,
      entryOf: (object) => this.#entryOf(object),
      keep: (source, payload) => data.put(source, payload),
    };
  }

  #entryOf(object: Ref): ListEntry | undefined {
    const list = this.#list && readList(this.#list)?.entries && listOf(this.#list);
    return list?.of(this.#settings.kind, object);
  }

  #listState(): ListState {
    const ref = { namespace: "secretcast", name: "secretcast-sources" };
    const object = this.#list && readList(this.#list);
    if (!object?.entries || !this.#list) return unusableListState(ref, object);
    return readListState(ref, object, listOf(this.#list), this.#settings.kind);
  }
}

// An entry of one text is one object, however often it is read.
function listOf(raw: RawObject): SourceList {
  const known = lists.get(raw);
  if (known) return known;
  const ref = { namespace: "secretcast", name: "secretcast-sources" };
  const parsed = new Map<string, ListEntry>();
  for (const key of Object.keys(raw.data ?? {}).toSorted()) {
    const text = raw.data?.[key] ?? "";
    const id = `${key}\n${text}`;
    const entry = entries.get(id) ?? keep(entryOf(key, text, ref));
    entries.set(id, entry);
    parsed.set(key, entry);
  }
  const list = new SourceList(parsed);
  lists.set(raw, list);
  return list;
}

function entryOf(key: string, text: string, list: Ref): ListEntry {
  const steps = parseEntry(key, text, {
    list,
    kinds: ["Secret", "ConfigMap"],
    onlyNames: undefined,
  });
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const seen = (raw: RawObject): RawObject => wall.read?.(raw) ?? raw;

function client(request: Around["request"]): ApiClient {
  return {
    server: "http://explored",
    reachability: REACHABLE,
    request: request as ApiClient["request"],
    open: () => Promise.reject(new Error("nothing is watched here")),
    close: () => Promise.resolve(),
  };
}
const REACHABLE = new Reachability({ monotonic: () => 0 } as ConstructorParameters<
  typeof Reachability
>[0]);

/** The canonical text of what a process remembers. */
export const memoryText = ({ memory }: Process, kind: ObjectKind, naming: Naming): string =>
  `${textOf(memory.shared, naming)} ${textOf(memory.of(kind), naming)}`;

/** Rows of removals that name a time, by slot. */
export function reportedRemovals(plan: Planned): ReadonlyMap<string, number> {
  const removes = new Set(["delete", "release", "held"]);
  return new Map(
    plan.rows.flatMap(({ verdict, kind, place, dueAt }) =>
      removes.has(verdict) && dueAt !== undefined ? [[placeKey(kind, place), dueAt] as const] : [],
    ),
  );
}

/** By slot, the sources that have a row there. */
export function sourcesWithRow(plan: Planned): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { kind, place, source } of plan.rows) {
    const slot = placeKey(kind, place);
    const known = found.get(slot);
    if (known) known.add(refText(source));
    else found.set(slot, new Set([refText(source)]));
  }
  return found;
}
