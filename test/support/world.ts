// A cluster of plain objects for tests of the pure core: a World over what raw-cluster.ts holds, plans
// of it, and plans applied to it.
import { createDigest } from "../../src/core/data.ts";
import { parseGlobList, NAMESPACE_GLOBS, type GlobList } from "../../src/core/match.ts";
import { Memory } from "../../src/core/memory.ts";
import { refText, type Secret, type Settings, type World } from "../../src/core/model.ts";
import { readNamespace } from "../../src/core/namespaces.ts";
import { plan } from "../../src/core/plan.ts";
import { requestsFor } from "../../src/core/requests.ts";
import { readSecret } from "../../src/core/secrets.ts";
import { sourceRank } from "../../src/core/settings.ts";
import type { Action, Plan } from "../../src/core/verdicts.ts";
import { RawCluster, type RawSecret } from "./raw-cluster.ts";

export function globs(text: string): GlobList {
  const list = parseGlobList(text, NAMESPACE_GLOBS);
  if (!list.ok) throw new Error(`test: bad globs ${text}`);
  return list.value;
}

/** What the flags say unless told otherwise; `shared` is the source namespace. */
export function settingsOf(changes: Partial<Settings> = {}): Settings {
  return {
    sourceNamespaces: globs("shared"),
    scope: undefined,
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

const digest = createDigest(Buffer.from("a key of the tests"));

export class Cluster extends RawCluster {
  readonly memory = new Memory();
  settings: Settings;
  now = 0;
  #read = new WeakMap<RawSecret, Secret>();

  constructor(changes: Partial<Settings> = {}) {
    super();
    this.settings = settingsOf(changes);
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
      intern: (text) => text,
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
}

export function runPlan(...args: Parameters<typeof plan>): Plan {
  const steps = plan(...args);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
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
