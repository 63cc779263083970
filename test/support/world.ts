// A cluster of plain objects for tests of the pure core: builders for what users write, a World over
// it, and just enough of an API server to apply a plan to it (POST, merge PATCH and DELETE with
// preconditions, immutable types and data). It throws where the real server would refuse.
import { createDigest } from "../../src/core/data.ts";
import { parseGlobList, NAMESPACE_GLOBS, type GlobList } from "../../src/core/match.ts";
import { Memory } from "../../src/core/memory.ts";
import { refText, type Secret, type Settings, type World } from "../../src/core/model.ts";
import { readNamespace } from "../../src/core/namespaces.ts";
import { plan } from "../../src/core/plan.ts";
import { requestsFor, type SecretRequest } from "../../src/core/requests.ts";
import { readSecret } from "../../src/core/secrets.ts";
import { sourceRank } from "../../src/core/settings.ts";
import type { Action, Plan } from "../../src/core/verdicts.ts";

export type Texts = Readonly<Record<string, string>>;

export type RawMeta = {
  namespace?: string;
  name: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
};
export type RawSecret = {
  metadata: RawMeta & { namespace: string };
  type: string;
  data: Record<string, string>;
  immutable?: boolean;
};
export type RawNamespace = { metadata: RawMeta; status: { phase: string } };

/** What a test says of a Secret; `at`: seconds of age order, larger is younger. */
export type Given = {
  readonly type?: string;
  readonly data?: Texts;
  readonly immutable?: boolean;
  readonly labels?: Texts;
  readonly at?: number;
};

export function globs(text: string): GlobList {
  const list = parseGlobList(text, NAMESPACE_GLOBS);
  if (!list.ok) throw new Error(`test: bad globs ${text}`);
  return list.value;
}

export function settingsOf(changes: Partial<Settings> = {}): Settings {
  return {
    sourceNamespaces: globs("shared"),
    excludeNamespaces: undefined,
    includeSystemNamespaces: false,
    ownNamespace: "secretcast",
    namespacePolicy: "opt-out",
    deleteGraceMs: 10_000,
    deleteLimit: 100,
    deleteHoldMs: 300_000,
    fanoutLimitBytes: 256 * 1024 * 1024,
    ...changes,
  };
}

/** `{ to: "*" }` to `{ "secretcast.io/to": "*" }`; keys with "/" stay. */
export function prefixed(words: Texts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(words).map(([word, value]) => [
      word.includes("/") ? word : `secretcast.io/${word}`,
      value,
    ]),
  );
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

export function timestamp(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString().replace(".000Z", "Z");
}

const digest = createDigest(Buffer.from("a key of the tests"));

export class Cluster {
  readonly namespaces = new Map<string, RawNamespace>();
  readonly secrets = new Map<string, RawSecret>();
  readonly memory = new Memory();
  settings: Settings;
  now = 0;
  /** Every write that was applied, as "METHOD NAMESPACE/NAME". */
  readonly writes: string[] = [];
  #version = 100;
  #uid = 0;
  #read = new WeakMap<RawSecret, Secret>();

  constructor(changes: Partial<Settings> = {}) {
    this.settings = settingsOf(changes);
  }

  namespace(name: string, annotations: Texts = {}, labels: Texts = {}, at = 0): RawNamespace {
    const metadata = {
      ...this.#meta(name, at),
      labels: { ...labels },
      annotations: prefixed(annotations),
    };
    const namespace = { metadata, status: { phase: "Active" } };
    this.namespaces.set(name, namespace);
    return namespace;
  }

  /** Writes a Secret, as a user would; an existing one keeps its UID. */
  secret(place: string, annotations: Texts = {}, given: Given = {}): RawSecret {
    const [namespace = "", name = ""] = place.split("/");
    const before = this.secrets.get(place);
    const metadata = {
      ...this.#meta(name, given.at ?? 0),
      namespace,
      ...(before ? { uid: before.metadata.uid } : {}),
      labels: { ...given.labels },
      annotations: prefixed(annotations),
    };
    return this.#put({
      metadata,
      type: given.type ?? "Opaque",
      data: Object.fromEntries(
        Object.entries(given.data ?? { key: "value" }).map(([key, value]) => [key, base64(value)]),
      ),
      ...(given.immutable === undefined ? {} : { immutable: given.immutable }),
    });
  }

  /** Changes an existing Secret in place, as kubectl edit would. */
  edit(place: string, change: (secret: RawSecret) => void): RawSecret {
    const secret = structuredClone(this.get(place));
    change(secret);
    secret.metadata.resourceVersion = String(++this.#version);
    return this.#put(secret);
  }

  get(place: string): RawSecret {
    const secret = this.secrets.get(place);
    if (!secret) throw new Error(`test: no Secret ${place}`);
    return secret;
  }

  delete(place: string): void {
    this.secrets.delete(place);
  }

  #put(secret: RawSecret): RawSecret {
    this.secrets.set(refText(secret.metadata), secret);
    return secret;
  }

  #meta(name: string, at: number): RawMeta {
    return {
      name,
      uid: `uid-${++this.#uid}`,
      resourceVersion: String(++this.#version),
      creationTimestamp: timestamp(at),
      labels: {},
      annotations: {},
    };
  }

  /** The Secret as the cache holds it. */
  cached(place: string): Secret {
    return this.#reduce(this.get(place));
  }

  #reduce(raw: RawSecret): Secret {
    const known = this.#read.get(raw);
    if (known) return known;
    const secret = readSecret(raw, {
      digest,
      isSourceNamespace: (namespace) => sourceRank(this.settings, namespace) >= 0,
    });
    if (!secret) throw new Error(`test: not a Secret: ${refText(raw.metadata)}`);
    this.#read.set(raw, secret);
    return secret;
  }

  /** Forgets what was read, as a restart with other settings does. */
  reread(): void {
    this.#read = new WeakMap();
  }

  world(): World {
    const byNamespace = new Map<string, Map<string, Secret>>();
    for (const name of this.namespaces.keys()) byNamespace.set(name, new Map());
    const all = [...this.secrets.values()].map((raw) => this.#reduce(raw));
    for (const secret of all) byNamespace.get(secret.namespace)?.set(secret.name, secret);
    const namespaces = [...this.namespaces.values()].flatMap((raw) => readNamespace(raw) ?? []);
    const nothing: ReadonlyMap<string, Secret> = new Map();
    return {
      namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])),
      secretsIn: (namespace) => byNamespace.get(namespace) ?? nothing,
      sources: all.filter((secret) => secret.role === "source"),
      pulls: all.filter((secret) => secret.role === "pull"),
      copies: all.filter((secret) => secret.role === "copy"),
    };
  }

  plan(inFlight: ReadonlySet<string> = new Set()): Plan {
    return runPlan(this.world(), this.settings, this.memory, this.now, inFlight);
  }

  /** Plans and applies what the plan says; the plan. */
  pass(): Plan {
    const result = this.plan();
    for (const action of result.actions) this.apply(action);
    return result;
  }

  /** Passes, each when the one before asked for it, until nothing is due; the last plan. */
  settle(most = 20): Plan {
    for (let round = 0; round < most; round++) {
      const result = this.pass();
      if (result.actions.length === 0 && result.nextAt === undefined) return result;
      this.now = Math.max(this.now + 1000, result.actions.length > 0 ? 0 : (result.nextAt ?? 0));
    }
    throw new Error(`test: not settled after ${most} passes`);
  }

  apply(action: Action): void {
    const { confirm } = action;
    if (confirm) {
      const there = this.secrets.get(refText(confirm.source));
      if (there?.metadata.uid === confirm.uid) {
        this.memory.stillThere(confirm);
        return;
      }
      this.memory.confirmedGone(confirm, this.now);
    }
    for (const request of requestsFor(action)) this.request(request);
    this.memory.succeeded(action, this.now, 0.5);
  }

  request(request: SecretRequest): void {
    const place = refText(request);
    if (request.method === "GET") return;
    this.writes.push(`${request.method} ${place}`);
    // Over the wire and back: what a body cannot say is lost here as it would be there.
    const body: unknown = JSON.parse(JSON.stringify(request.body));
    if (request.method === "POST") this.#post(place, body);
    else if (request.method === "DELETE") this.#remove(place, body);
    else this.#patch(place, body);
  }

  #post(place: string, body: unknown): void {
    if (this.secrets.has(place)) throw new Error(`secrets ${place} already exists`);
    const given = body as RawSecret;
    if (this.namespaces.get(given.metadata.namespace)?.status.phase !== "Active") {
      throw new Error(`namespace ${given.metadata.namespace} takes nothing new`);
    }
    this.#put({ ...given, metadata: { ...this.#meta(given.metadata.name, 0), ...given.metadata } });
  }

  #remove(place: string, body: unknown): void {
    const present = this.get(place);
    const { preconditions } = body as { preconditions: { uid: string; resourceVersion: string } };
    this.#check(present, preconditions);
    this.secrets.delete(place);
  }

  #patch(place: string, body: unknown): void {
    const present = this.get(place);
    const { metadata } = body as { metadata: { uid: string; resourceVersion: string } };
    this.#check(present, metadata);
    const next = mergePatch(present, body) as RawSecret;
    if (next.type !== present.type) throw new Error(`${place}: type: field is immutable`);
    const sameData = JSON.stringify(sorted(next.data)) === JSON.stringify(sorted(present.data));
    if (present.immutable && !(next.immutable && sameData)) {
      throw new Error(`${place}: field is immutable when \`immutable\` is set`);
    }
    next.metadata.resourceVersion = String(++this.#version);
    this.#put(next);
  }

  #check(present: RawSecret, wanted: { uid: string; resourceVersion: string }): void {
    const { uid, resourceVersion } = present.metadata;
    if (wanted.uid !== uid || wanted.resourceVersion !== resourceVersion) {
      throw new Error(`${refText(present.metadata)}: precondition failed`);
    }
  }
}

export function runPlan(...args: Parameters<typeof plan>): Plan {
  const steps = plan(...args);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function sorted(data: Texts): [string, string][] {
  return Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
