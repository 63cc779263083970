// A cluster after a rotation, as data with its truth: 4 sources, 300 namespaces, 3,000 Pods, 60 bindings. Which
// copies have the new value since when, which Pods hold the old one, and which readers there are is known by
// construction. The same seed gives the same world. load-world.ts puts it on an API server.
import { pick, seeded } from "../../../../packages/kube/testing/random.ts";
import { holdingOf, WAYS, type Timing, type Use, type Way } from "./pod-uses.ts";
import { makeBindings } from "./readers.ts";
import {
  FROZEN,
  namespaceName,
  OWN_ENTRY,
  OWNED_EVERY,
  refOf,
  TAKEN,
  type Owner,
  type Place,
  type RotationWorld,
  type WorldPod,
  type WorldSource,
} from "./world-parts.ts";

const NAMESPACES = 300;
const PODS = 3000;
const MINUTE = 60;

export function makeWorld(now: number, seed = 1, prefix = "w"): RotationWorld {
  const chance = seeded(seed);
  const namespaces = Array.from({ length: NAMESPACES }, (_, n) => namespaceName(prefix, n));
  const platform = `${prefix}-platform`;
  const security = `${prefix}-security`;
  const sources = sourcesOf(prefix, platform, security);
  const since = (): number => now - (30 + Math.floor(chance() * 20)) * MINUTE;
  const own = (source: WorldSource): Place => ({
    namespace: source.namespace,
    name: source.name,
    source: refOf(source),
    role: "source",
    state: "current",
    since: now - 100 * MINUTE,
  });
  const places: Place[] = sources.map(own);
  const add = (place: Omit<Place, "since" | "state"> & { readonly state?: Place["state"] }): void =>
    void places.push({ state: "current", since: since(), ...place });
  for (const [n, namespace] of namespaces.entries()) {
    const state = n === TAKEN ? "conflict" : n === FROZEN ? "stale" : "current";
    if (n < 160)
      add({ namespace, name: "registry", source: `${platform}/registry`, role: "copy", state });
    if (n < 100) add({ namespace, name: "db-credentials", source: `${platform}/db`, role: "copy" });
    if (n >= 100 && n < 200 && (n < 150 || n > 159))
      add({ namespace, name: "wildcard-tls", source: `${security}/wildcard-tls`, role: "copy" });
    if (n >= 200 && n < 260)
      add({
        namespace,
        name: "token",
        source: `${platform}/api-token`,
        role: "pulling",
        state: n === OWN_ENTRY ? "conflict" : "current",
      });
  }
  return {
    prefix,
    now,
    sources,
    namespaces,
    places,
    unmanaged: [TAKEN, ...Array.from({ length: 10 }, (_, n) => 260 + n)].map(
      (n) => `${namespaceName(prefix, n)}/registry`,
    ),
    pods: podsOf(namespaces, places, `${security}/wildcard-tls`, chance),
    bindings: makeBindings(prefix, namespaces.slice(0, 40)),
  };
}

/** The third one is safe to revoke: nothing holds an old value of it, though many Pods use it. */
function sourcesOf(prefix: string, platform: string, security: string): readonly WorldSource[] {
  const dockerconfig = JSON.stringify({
    auths: { "registry.example.com": { auth: "bWFkZS11cA==" } },
  });
  return [
    {
      namespace: platform,
      name: "registry",
      type: "kubernetes.io/dockerconfigjson",
      annotations: { "secretcast.io/to-selector": `${prefix}-pull=yes` },
      data: { ".dockerconfigjson": dockerconfig, value: "old" },
    },
    {
      namespace: platform,
      name: "db",
      type: "Opaque",
      annotations: {
        "secretcast.io/to": `${prefix}-0*`,
        "secretcast.io/name": "db-credentials",
        "secretcast.io/keys": "value,user",
      },
      data: { value: "old", user: "app", root: "never copied" },
    },
    {
      namespace: security,
      name: "wildcard-tls",
      type: "kubernetes.io/tls",
      annotations: { "secretcast.io/to": `${prefix}-1*,!${prefix}-15*` },
      data: { "tls.crt": "made-up", "tls.key": "made-up", value: "old" },
    },
    {
      namespace: platform,
      name: "api-token",
      type: "Opaque",
      annotations: { "secretcast.io/allow": `${prefix}-2*` },
      data: { value: "old", region: "eu" },
    },
  ];
}

/** Pods of controllers that run on the server: their number in some namespaces, beside those by hand. */
const DEPLOYED: readonly (readonly [owner: Owner, every: number, at: number, replicas: number])[] =
  [
    [{ kind: "Deployment", name: "web" }, 30, 5, 5],
    [{ kind: "ReplicaSet", name: "solo" }, 30, 6, 3],
  ];

function podsOf(
  namespaces: readonly string[],
  places: readonly Place[],
  safe: string,
  chance: () => number,
): readonly WorldPod[] {
  const placesIn = Map.groupBy(places, ({ namespace }) => namespace);
  const homes = [...namespaces, ...places.slice(0, 4).map(({ namespace }) => namespace)];
  const pods: WorldPod[] = [];
  for (const [owner, every, at, replicas] of DEPLOYED)
    for (const [n, namespace] of namespaces.entries()) {
      if (n % every !== at) continue;
      const there = placesIn.get(namespace) ?? [];
      // One template for all of them; they differ in when they started.
      const uses = usesOf(there, chance);
      for (let replica = 0; replica < replicas; replica++) {
        // A controller would replace a Pod that has finished.
        const any = timingOf(uses, there, safe, chance);
        const timing: Timing = any.kind === "finished" ? { kind: "unstarted" } : any;
        pods.push({ namespace, name: undefined, owner, uses, timing });
      }
    }
  while (pods.length < PODS) {
    const index = pods.length;
    const namespace = homes[index % homes.length] ?? "";
    const there = placesIn.get(namespace) ?? [];
    const uses = usesOf(there, chance);
    pods.push({
      namespace,
      name: `pod-${index}`,
      owner: ownerIn(namespaces.indexOf(namespace), chance),
      uses,
      timing: timingOf(uses, there, safe, chance),
    });
  }
  return pods;
}

const OWNERS: readonly [Owner, ...Owner[]] = [
  { kind: "StatefulSet", name: "queue" },
  { kind: "DaemonSet", name: "agent" },
  { kind: "Job", name: "import" },
  { kind: "CronJob", name: "nightly" },
];

function ownerIn(n: number, chance: () => number): Owner | undefined {
  return n >= 0 && n % OWNED_EVERY === 0 ? pick(chance, OWNERS) : undefined;
}

function usesOf(there: readonly Place[], chance: () => number): readonly Use[] {
  const use = (): Use => {
    const way: Way = pick(chance, WAYS);
    const secret =
      there.length === 0
        ? pick(chance, ["registry", "own-secret"])
        : chance() < 0.12
          ? "own-secret"
          : (there[Math.floor(chance() * there.length)]?.name ?? "own-secret");
    return { way, secret };
  };
  return chance() < 0.25 ? [use(), use()] : [use()];
}

function timingOf(
  uses: readonly Use[],
  there: readonly Place[],
  safe: string,
  chance: () => number,
): Timing {
  const used = there.filter(({ name }) => uses.some(({ secret }) => secret === name));
  const since = used[0]?.since ?? there[0]?.since ?? 1_700_000_000;
  const isSafe = (timing: Timing): boolean =>
    used
      .filter(({ source }) => source === safe)
      .every((place) =>
        uses
          .filter(({ secret }) => secret === place.name)
          .every((use) => {
            const holding = holdingOf(use, timing, place.since, REFRESHED);
            return holding === undefined || holding === "pull";
          }),
      );
  for (let tries = 0; tries < 40; tries++) {
    const timing = anyTiming(since, chance);
    if (isSafe(timing)) return timing;
  }
  return { kind: "unstarted" };
}

/** All copies of the world are older than this. */
const REFRESHED = { now: Number.POSITIVE_INFINITY, syncPeriod: 120 };

function anyTiming(since: number, chance: () => number): Timing {
  const offset = (): number => {
    const which = chance();
    if (which < 0.55) return -1 - Math.floor(chance() * 20 * 60 * MINUTE);
    return which < 0.6 ? 0 : 1 + Math.floor(chance() * 25 * MINUTE);
  };
  const at = since + offset();
  const which = chance();
  if (which < 0.55) return { kind: "started", at };
  if (which < 0.75) return { kind: "reported", at, containersAt: Math.max(at, since + offset()) };
  if (which < 0.8) return { kind: "waiting", at };
  if (which < 0.9) return { kind: "finished", at, phase: chance() < 0.5 ? "Succeeded" : "Failed" };
  return { kind: "unstarted" };
}
