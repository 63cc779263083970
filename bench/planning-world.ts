// Plans one world again and again and prints what it took: the child of planning.ts.
import { createDigest } from "../src/controller/model/secret-data.ts";
import { createIntern, createShare } from "../src/text/intern.ts";
import { PlannerMemory } from "../src/controller/state/planner-memory.ts";
import type {
  CopyTemplate,
  Namespace,
  CachedObject,
  ClusterState,
} from "../src/controller/model/cluster.ts";
import { readNamespace } from "../src/controller/observed/read-namespace.ts";
import { plan } from "../src/controller/plan/plan.ts";
import { readObject } from "../src/controller/observed/read-object.ts";
import type { Plan } from "../src/controller/model/verdicts.ts";
import { settingsOf } from "../test/support/planner/planner-cluster.ts";
import type { Measured, Shape } from "./planning.ts";
import { median } from "./scorecard.ts";
import { KINDS } from "../src/controller/model/kinds.ts";

const ROUNDS = 7;
const CREATED = "2026-01-01T00:00:00Z";
const digest = createDigest(Buffer.from("a key of the benchmark"));

// No source of this world is so large that it is held.
const settings = settingsOf({ fanoutLimitBytes: 2 ** 40 });
const context = {
  kind: KINDS.Secret,
  digest,
  intern: createIntern(),
  share: createShare<CopyTemplate>(),
  isSourceNamespace: (name: string) => name === "shared",
  copyable: { copyableKeys: undefined, namedSources: undefined },
  keep: () => undefined,
};

function read(raw: unknown): CachedObject {
  const secret = readObject(raw, context);
  if (!secret) throw new Error("not a Secret");
  return secret;
}

const data = { password: "c2VjcmV0" };

function sourceOf(at: number, wanted: number): CachedObject {
  // The namespaces of the first letters are wanted by all, and each says so in words of its own.
  const to = wanted === 0 ? `nobody-${at}-*` : `w${wanted}-*,team-${at}`;
  return read({
    metadata: {
      namespace: "shared",
      name: `source-${at}`,
      uid: `uid-${at}`,
      resourceVersion: `${at + 1}`,
      // By age they come in another order than by name.
      creationTimestamp: `2026-01-01T00:${String((at * 7) % 60).padStart(2, "0")}:00Z`,
      annotations: { "secretcast.io/to": to },
    },
    data,
  });
}

function copyOf(at: number, namespace: string): CachedObject {
  const name = `source-${at}`;
  return read({
    metadata: {
      namespace,
      name,
      uid: `copy-${at}-${namespace}`,
      resourceVersion: "12345",
      creationTimestamp: CREATED,
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": `shared/${name}`,
        "secretcast.io/source-uid": `uid-${at}`,
        "secretcast.io/source-version": `${at + 1}`,
        "secretcast.io/placed-at": `${namespace}/${name}`,
      },
    },
    data,
  });
}

function strangerOf(at: number, namespace: string): CachedObject {
  const name = `stranger-${at}`;
  const uid = `stranger-${at}-${namespace}`;
  const identity = { namespace, name, uid, resourceVersion: "12345" };
  return read({ metadata: { ...identity, creationTimestamp: CREATED }, data });
}

function worldOf(shape: Shape): ClusterState {
  const namespaces = new Map<string, Namespace>();
  for (let at = 0; at < shape.namespaces; at++) {
    const name = `${at < shape.wanted ? `w${shape.wanted}` : "other"}-${at}`;
    const raw = { metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: CREATED } };
    const namespace = readNamespace(raw);
    if (namespace) namespaces.set(name, namespace);
  }
  const sources = Array.from({ length: shape.sources }, (_, at) => sourceOf(at, shape.wanted));
  // As the API server lists them: a namespace after the other, by name.
  const byName = [...sources.keys()].toSorted((a, b) => (`${a}` < `${b}` ? -1 : 1));
  const secrets = new Map<string, Map<string, CachedObject>>();
  for (const [at, namespace] of [...namespaces.keys()].entries()) {
    const inNamespace = new Map<string, CachedObject>();
    const put = (secret: CachedObject): unknown => inNamespace.set(secret.name, secret);
    if (at < shape.wanted) for (const source of byName) put(copyOf(source, namespace));
    for (let stranger = 0; stranger < shape.strangers; stranger++)
      put(strangerOf(stranger, namespace));
    secrets.set(namespace, inNamespace);
  }
  const nothing: ReadonlyMap<string, CachedObject> = new Map();
  const objectsIn = (name: string): ReadonlyMap<string, CachedObject> =>
    secrets.get(name) ?? nothing;
  return {
    kind: "Secret",
    namespaces,
    sources,
    pulls: [],
    objectsIn,
    pullableDigestOf: () => undefined,
  };
}

// CPU time: on a shared machine a plan that takes a second is interrupted by others. Of a turn the
// smaller of its wall time, which holds what others took, and its CPU time, which holds what V8's
// compiler did beside it.
type Timed = { readonly made: Plan; readonly cpuMs: number; readonly longestTurnMs: number };

function planOnce(clusterState: ClusterState, memory: PlannerMemory, now: number): Timed {
  const planning = plan([clusterState], settings, memory, now, new Set());
  const began = cpuMs();
  let [cpu, wall, longestTurnMs] = [began, performance.now(), 0];
  for (;;) {
    const step = planning.next();
    const [cpuAt, wallAt] = [cpuMs(), performance.now()];
    longestTurnMs = Math.max(longestTurnMs, Math.min(cpuAt - cpu, wallAt - wall));
    [cpu, wall] = [cpuAt, wallAt];
    if (step.done) return { made: step.value, cpuMs: cpu - began, longestTurnMs };
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function measure(shape: Shape): Measured {
  const clusterState = worldOf(shape);
  const memory = new PlannerMemory();
  const pairs = shape.sources * shape.namespaces;
  const [times, turns, bytes]: [number[], number[], number[]] = [[], [], []];
  let last: Plan | undefined;
  // Once: what V8 sweeps after a forced collection is done by its threads during the next pass, and
  // was half of that pass's CPU time.
  globalThis.gc?.();
  for (let round = 0; round < ROUNDS + 2; round++) {
    const before = process.memoryUsage().heapUsed;
    const { made, cpuMs, longestTurnMs } = planOnce(clusterState, memory, 1000 * round);
    bytes.push(process.memoryUsage().heapUsed - before);
    times.push(cpuMs);
    turns.push(longestTurnMs);
    last = made;
  }
  // Two rounds warm up.
  return {
    pairs,
    current: last?.counts.current ?? 0,
    writes: last?.actions.length ?? -1,
    nsAPair: (median(times.slice(2)) * 1e6) / pairs,
    bytesAPair: median(bytes.slice(2)) / pairs,
    longestTurnMs: median(turns.slice(2)),
  };
}

const shape: Shape = JSON.parse(process.argv[2] ?? "{}");
process.stdout.write(JSON.stringify(measure(shape)));
