// What a seed decides: under which settings a run goes, and which attacks and faults come in which
// order. Pure: the same seed gives the same run, though not the same timing.
import type { FlagValues } from "../../src/controller/settings/config.ts";
import { seeded } from "../../packages/kube/testing/random.ts";

export type Circumstances = {
  readonly guardrail: boolean;
  /** Undefined: the default, the platform's namespace alone. */
  readonly sourceNamespaces: "secretcast,*" | "*" | undefined;
  readonly graceMs: number;
  /** How long a removal waits that could be a mistake; 0: not longer. */
  readonly holdMs: number;
  readonly replicas: 1 | 2;
};

const GRACES_MS = [2000, 0, 500, 10_000] as const;

export function circumstances(seed: number): Circumstances {
  const bit = (at: number): boolean => Math.floor(seed / 2 ** at) % 2 === 1;
  const everybody = bit(2) ? "*" : "secretcast,*";
  const chance = seeded(seed);
  return {
    guardrail: bit(0),
    sourceNamespaces: bit(1) ? everybody : undefined,
    graceMs: GRACES_MS[Math.floor(chance() * GRACES_MS.length)] ?? 0,
    holdMs: chance() < 0.5 ? 0 : 300_000,
    replicas: chance() < 0.25 ? 2 : 1,
  };
}

export function flagsFor({ sourceNamespaces, graceMs, holdMs }: Circumstances): FlagValues {
  return {
    ...(sourceNamespaces !== undefined && { "source-namespaces": sourceNamespaces }),
    "delete-grace": `${graceMs}ms`,
    "delete-hold": `${holdMs}ms`,
    "leader-elect": "true",
    "lease-namespace": "secretcast",
  };
}

/** Whether every namespace may publish: then a namespace takes only what it says it accepts. */
export function everybodyPublishes({ sourceNamespaces }: Circumstances): boolean {
  return sourceNamespaces !== undefined;
}

/** Each of `items` once in random order, then again in another, for ever. */
export function* inTurns<T>(items: readonly T[], chance: () => number): Generator<T, never> {
  if (items.length === 0) throw new Error("nothing to take turns with");
  for (;;)
    yield* items
      .map((item) => ({ item, at: chance() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item);
}
