// A cluster of plain objects for tests of the pure core: a World over what raw-cluster.ts holds, plans
// of it, and plans applied to it.
import { because } from "../../../src/controller/model/reasons.ts";
import { finishAtOnce } from "../../../packages/kube/time/turns.ts";
import { createDigest, pullableDigest } from "../../../src/controller/model/secret-data.ts";
import { DataCache } from "../../../src/controller/state/data-cache.ts";
import { parseGlobList, NAMESPACE_GLOBS, type GlobList } from "../../../src/text/globs.ts";
import { PlannerMemory } from "../../../src/controller/state/planner-memory.ts";
import type { PlannerState } from "../../../src/controller/state/planner-state.ts";
import { rulesOf, type KindRules, type ObjectKind } from "../../../src/controller/model/kinds.ts";
import { NO_ENTRIES, parseSourceList } from "../../../src/controller/annotations/source-list.ts";
import {
  type CachedObject,
  type ListState,
  type PlannerSettings,
  type SourcePayload,
  type SourceObject,
  type ClusterState,
} from "../../../src/controller/model/cluster.ts";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import { plan } from "../../../src/controller/plan/plan.ts";
import { emptyingFill, fillFor, readPullState } from "../../../src/controller/desired/pull-fill.ts";
import { versionOf } from "../../../src/controller/state/live-reads.ts";
import {
  copyRequests,
  endRequests,
  fillRequest,
  type ObjectRequest,
} from "../../../src/controller/writes/object-requests.ts";
import type { ReadContext } from "../../../src/controller/observed/read-context.ts";
import { readRecord } from "../../../src/controller/observed/read-copy.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";
import { sourceRank } from "../../../src/controller/desired/namespace-rules.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { RawCluster, type RawNamespace, type RawSecret } from "./raw-cluster.ts";
import { isNameRead } from "../../../src/controller/annotations/name-scope.ts";
import { type Ref, refText } from "../../../src/text/names.ts";
import type { Action, LiveRead } from "../../../src/controller/model/actions.ts";

export function globs(text: string): GlobList {
  const list = parseGlobList(text, NAMESPACE_GLOBS);
  if (!list.ok) throw new Error(`test: bad globs ${text}`);
  return list.value;
}

/** What the flags say unless told otherwise; `shared` is the source namespace. */
export function settingsOf(changes: Partial<PlannerSettings> = {}): PlannerSettings {
  return {
    sourceNamespaces: globs("shared"),
    scope: undefined,
    excludeNamespaces: undefined,
    otherSourceNamespaces: undefined,
    includeSystemNamespaces: false,
    ownNamespace: "secretcast",
    sourceList: "secretcast-sources",
    namespacePolicy: "opt-out",
    deleteGraceMs: 10_000,
    // Only tests about holds hold anything.
    deleteHoldMs: 0,
    fanoutLimitBytes: 256 * 1024 * 1024,
    onlyNames: undefined,
    copyableKeys: undefined,
    namedSources: globs("shared"),
    ...changes,
  };
}

const digest = createDigest(Buffer.from("a key of the tests"));
const ROOM = 64 * 1024 * 1024;

export class Cluster extends RawCluster {
  memories = new PlannerMemory();
  settings: PlannerSettings;
  now = 0;
  readonly data = new DataCache(ROOM);
  /** Names of --only-names that the API server does not let us read. */
  deniedNames: ReadonlySet<string> = new Set();
  #read = new WeakMap<RawSecret, CachedObject>();
  #list: ListState | undefined;
  #entries = NO_ENTRIES;
  #listVersion = 0;
  readonly #deaf = new Map<string, RawSecret | RawNamespace | undefined>();

  constructor(changes: Partial<PlannerSettings> = {}, kind: ObjectKind = "Secret") {
    super(kind);
    this.settings = settingsOf(changes);
  }

  /** Of its kind. */
  get memory(): PlannerState {
    return this.memories.of(this.kind);
  }

  get #rules(): KindRules {
    return rulesOf(this.kind, this.settings);
  }

  /** The object as the cache holds it. */
  cached(place: string): CachedObject {
    return this.#reduce(this.get(place));
  }

  #reduce(raw: RawSecret): CachedObject {
    const known = this.#read.get(raw);
    if (known) return known;
    const secret = readObject(raw, this.#context);
    if (!secret) throw new Error(`test: not a Secret: ${refText(raw.metadata)}`);
    this.#read.set(raw, secret);
    return secret;
  }

  get #context(): ReadContext {
    return {
      kind: this.#rules,
      digest,
      intern: (text) => text,
      share: (_, template) => template,
      isSourceNamespace: (namespace) => sourceRank(this.settings, namespace) >= 0,
      copyable: this.settings,
      entryOf: (object) => this.#entries.of("Secret", object),
      keep: (source, payload) => this.data.put(source, payload),
    };
  }

  /** The source list says this from now on; what is cached was read before. */
  list(data: Readonly<Record<string, string>>): void {
    const { ownNamespace = "secretcast", sourceList = "secretcast-sources" } = this.settings;
    const ref = { namespace: ownNamespace, name: sourceList };
    const { onlyNames } = this.settings;
    const terms = { list: ref, kinds: ["Secret"], onlyNames } as const;
    const steps = parseSourceList(data, terms, this.#entries);
    let step = steps.next();
    while (!step.done) step = steps.next();
    const entries = step.value;
    this.#entries = entries;
    this.#list = {
      state: "read",
      ref,
      uid: "uid-of-the-list",
      resourceVersion: String(++this.#listVersion),
      get: (key) => entries.get(key),
      of: (object) => entries.of("Secret", object),
      entries: () => entries.entries(),
    };
  }

  /** It is not read any more. */
  unlist(state: "off" | "absent" | "unread" = "absent"): void {
    this.#entries = NO_ENTRIES;
    this.#list = {
      state,
      reason: because("EntryRefused", { problem: `the source list is ${state}` }),
    };
  }

  /** As a new process, which remembers nothing. */
  restart(): void {
    this.memories = new PlannerMemory();
  }

  /** Forgets what was read, as a restart with other settings does. */
  reread(): void {
    this.#read = new WeakMap();
  }

  clusterState(): ClusterState {
    const byNamespace = new Map<string, Map<string, CachedObject>>();
    for (const name of this.namespaces.keys()) byNamespace.set(name, new Map());
    const shown = { secrets: new Map(this.secrets), namespaces: new Map(this.namespaces) };
    for (const [key, raw] of this.#deaf) {
      if (raw === undefined) shown.secrets.delete(key);
      else if ("data" in raw) shown.secrets.set(key, raw);
      else shown.namespaces.set(key, raw);
    }
    const all = [...shown.secrets.values()]
      .filter(({ metadata }) => isNameRead(this.settings.onlyNames, metadata.name))
      .map((raw) => this.#reduce(raw));
    for (const secret of all) byNamespace.get(secret.namespace)?.set(secret.name, secret);
    const namespaces = [...shown.namespaces.values()].flatMap((raw) => readNamespace(raw) ?? []);
    const nothing: ReadonlyMap<string, CachedObject> = new Map();
    return {
      kind: this.kind,
      list: this.#list,
      namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])),
      objectsIn: (namespace) => byNamespace.get(namespace) ?? nothing,
      unreadableNames: () => this.deniedNames,
      sources: all.filter((secret) => secret.role === "source"),
      pulls: all.filter((secret) => secret.role === "pull"),
      pullableDigestOf: (source, keys) => pullableDigest(digest, this.payload(source).data, keys),
    };
  }

  /** What its copies hold. */
  payload(source: SourceObject): SourcePayload {
    const payload = this.data.get(source);
    if (!payload) throw new Error(`test: no data of ${refText(source)}`);
    return payload;
  }

  /** `inFlight`: places. */
  plan(inFlight: ReadonlySet<string> = new Set()): Plan {
    const keys = Array.from(inFlight, (key) => (key.includes("/") ? `${this.kind} ${key}` : key));
    return runPlan([this.clusterState()], this.settings, this.memories, this.now, new Set(keys));
  }

  /** Plans and applies what the plan says; the plan. */
  sync(): Plan {
    const result = this.plan();
    for (const action of result.actions) this.apply(action);
    return result;
  }

  /** Passes, each when the one before asked for it, until nothing is due; the last plan. */
  settle(most = 20): Plan {
    for (let round = 0; round < most; round++) {
      const result = this.sync();
      if (result.actions.length === 0 && result.nextAt === undefined) return result;
      this.now = Math.max(this.now + 1000, result.actions.length > 0 ? 0 : (result.nextAt ?? 0));
    }
    throw new Error(`test: not settled after ${most} passes`);
  }

  apply(action: Action): void {
    if (action.kind === "confirm") for (const question of action.liveReads) this.#answer(question);
    if (action.kind === "fill" && !this.#fill(action)) return;
    for (const request of this.#requests(action)) this.request(request);
    this.memory.succeeded(action, this.now, 0.5);
  }

  #requests(action: Action): readonly ObjectRequest[] {
    switch (action.kind) {
      case "liveGet":
      case "confirm":
      case "fill":
        return [];
      case "clear":
        return [fillRequest(action, emptyingFill(this.#pullState(action.place)))];
      case "delete":
      case "release":
        return endRequests(action);
      case "create":
      case "update":
      case "replace":
      case "adopt":
        return copyRequests(
          action,
          this.payload(action.content.source),
          readRecord(this.secrets.get(refText(action.place))),
        );
    }
  }

  /** False: there was nothing to write. */
  #fill(action: Action & { kind: "fill" }): boolean {
    const { place, content, decisionKey } = action;
    const filling = () =>
      fillFor(this.#pullState(place), content.source, this.payload(content.source));
    const found = filling();
    const fill = "code" in found ? undefined : found.fill;
    if (fill) this.request(fillRequest(action, fill));
    const left = filling();
    const { uid, resourceVersion } = this.get(refText(place)).metadata;
    const conflict = "code" in left ? left : undefined;
    this.memory.pullResults.note(refText(place), { uid, resourceVersion, decisionKey, conflict });
    return fill !== undefined;
  }

  #pullState(place: Ref): ReturnType<typeof readPullState> {
    return readPullState(this.#rules, this.get(refText(place)));
  }

  /** Plans until what is about to end has had its grace and its questions; the plan that ends it. */
  due(): Plan {
    this.plan();
    this.now += this.settings.deleteGraceMs;
    for (let round = 0; round < 5; round++) {
      const result = this.plan();
      const asks = result.actions.filter(({ kind }) => kind === "confirm");
      if (asks.length === 0) return result;
      for (const action of asks) this.apply(action);
    }
    throw new Error("test: questions without end");
  }

  /** due(), and what it says is done. */
  end(): Plan {
    const result = this.due();
    for (const action of result.actions) this.apply(action);
    return result;
  }

  /** From now on the cache shows this Secret or namespace as it is now, whatever becomes of it. */
  deafen(place: string): void {
    this.#deaf.set(place, this.secrets.get(place) ?? this.namespaces.get(place));
  }

  // What the API server says is what the cache shows from then on.
  #answer(question: LiveRead): void {
    const { kind, ref } = question;
    const { liveReads } = this.memories.shared;
    if (kind === "SourceList") {
      const shown = this.#list?.state === "read" ? this.#list : undefined;
      liveReads.found(question, versionOf(shown), this.now, 0.5);
      return;
    }
    const key = kind === "Namespace" ? ref.namespace : refText(ref);
    const there = kind === "Namespace" ? this.namespaces.get(key) : this.secrets.get(key);
    this.#deaf.delete(key);
    const raw = this.secrets.get(key);
    if (kind !== "Namespace" && raw) this.#read.delete(raw);
    liveReads.found(question, versionOf(there?.metadata), this.now, 0.5);
  }
}

export function runPlan(...args: Parameters<typeof plan>): Plan {
  return finishAtOnce(plan(...args));
}

/** Which verdict the plan has for `place`; undefined: current, skip or none. */
export function verdictAt(result: Plan, place: string, source?: string): string | undefined {
  return result.rows.find(
    (row) =>
      refText(row.place) === place && (source === undefined || refText(row.source) === source),
  )?.verdict;
}

export function actionsAt(result: Plan, place: string): readonly Action["kind"][] {
  return result.actions.filter((action) => refText(action.place) === place).map(({ kind }) => kind);
}
