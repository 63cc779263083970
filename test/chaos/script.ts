// A run of chaos as data: what users, tenants, the network, the API server and whoever restarts the
// controller do, in order. The histories of the planner's property test are a part of it. Being data, a
// script can be drawn from a seed, played twice, shrunk, and kept as a test.
import * as fc from "fast-check";
import {
  historySteps,
  NAMESPACES,
  SOURCE_NAMESPACES,
  type Step,
} from "../support/planner/history.ts";

/** The flags that a controller may be (re)started with. */
export const FLAG_SETS = [
  { sourceNamespaces: "shared,shared-2", policy: undefined, exclude: "" },
  { sourceNamespaces: "shared,shared-2", policy: "opt-in", exclude: "" },
  { sourceNamespaces: "shared-2,shared", policy: undefined, exclude: "" },
  { sourceNamespaces: "shared", policy: undefined, exclude: "team-c" },
  { sourceNamespaces: "shared-*,shared", policy: "opt-out", exclude: "" },
  { sourceNamespaces: "*", policy: undefined, exclude: "" },
  { sourceNamespaces: "*", policy: "opt-out", exclude: "team-b" },
] as const;

const REQUEST_FAULTS = ["429", "500", "503", "409", "slow", "lost", "hang", "away"] as const;
const WATCH_FAULTS = ["cut", "expire", "deafen", "compact", "stale"] as const;

type At = { readonly namespace: string; readonly name: string };
export type UserStep =
  | Exclude<Step, { kind: "pass" }>
  /** The data of whatever is there change. */
  | ({ readonly kind: "rotate" } & At)
  /** One word of ours is set, or taken off. */
  | ({ readonly kind: "say"; readonly word: string; readonly value: string | null } & At)
  /** It is applied elsewhere as it is, marks included. */
  | ({ readonly kind: "paste"; readonly to: string } & At)
  /** Deleted and made again at once. */
  | ({ readonly kind: "again" } & At)
  /** The source list is written so, or deleted. */
  | {
      readonly kind: "list";
      readonly entries: Readonly<Record<string, string>> | null;
      readonly strange: boolean;
    }
  /** The finalizers of whatever is there are taken off. */
  | ({ readonly kind: "let go" } & At);
/** What happens to network, server and processes, and time that passes. */
export type Circumstance =
  | Extract<Step, { kind: "pass" }>
  | {
      readonly kind: "requests";
      readonly fault: (typeof REQUEST_FAULTS)[number];
      readonly likelihood: number;
      readonly ms: number;
    }
  | { readonly kind: "watches"; readonly fault: (typeof WATCH_FAULTS)[number] }
  /** The wall clock of one replica jumps. */
  | { readonly kind: "jump"; readonly replica: number; readonly ms: number }
  | { readonly kind: "restart"; readonly replica: number; readonly how: "kill" | "stop" }
  /** A roll-out: all stop and start with other flags. */
  | { readonly kind: "roll out"; readonly flags: number }
  /** A moment, so that things overlap. */
  | { readonly kind: "moment"; readonly ms: number };

export type ChaosStep = UserStep | Circumstance;

const CIRCUMSTANCES = ["pass", "requests", "watches", "jump", "restart", "roll out", "moment"];
export function isUsers(step: ChaosStep): step is UserStep {
  return !CIRCUMSTANCES.includes(step.kind);
}

export type Script = {
  /** Of everything random while the script is played. */
  readonly chance: number;
  readonly replicas: number;
  readonly flags: number;
  readonly graceMs: number;
  readonly deleteLimit: number;
  readonly steps: readonly ChaosStep[];
};

const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom("one", "two", "three", "one", "two", "pull-1", "forged");
const at = { namespace: fc.oneof(namespace, fc.constantFrom(...SOURCE_NAMESPACES)), name };
const replica = fc.nat({ max: 2 });
const constant = <T extends string>(kind: T): fc.Arbitrary<T> => fc.constant(kind);
const words = fc.constantFrom<readonly [string, string | null]>(
  ["to", "*"],
  ["to", "team-*"],
  ["to", null],
  ["paused", "true"],
  ["paused", null],
  ["on-delete", "keep"],
  ["on-delete", null],
  ["keys", "password"],
  ["keys", null],
  ["name", "two"],
  ["name", null],
  ["allow", "*"],
  ["allow", null],
  ["from", "shared/one"],
  ["from", null],
  ["adopt", "shared/one"],
  ["adopt", null],
  ["to-selecter", "typo"],
  ["to-selecter", null],
  ["future", "mark"],
  ["placed-at", "elsewhere/x"],
  ["source-uid", "forged"],
  ["source-version", null],
);

// JSON, which is YAML as well.
const ENTRIES: readonly (readonly [string, string])[] = [
  ["all", JSON.stringify({ secret: "shared/one", to: "*" })],
  ["tenants", JSON.stringify({ secret: "team-a/two", to: "team-*,shared-2", name: "three" })],
  [
    "gold",
    JSON.stringify({ secret: "team-b/one", "to-selector": "tier=gold", "on-delete": "keep" }),
  ],
  ["offer", JSON.stringify({ secret: "shared/two", allow: "*" })],
  ["again", JSON.stringify({ secret: "shared/one", allow: "*" })],
  ["typo", JSON.stringify({ secret: "shared/two", to: "*", keyz: "x" })],
  ["none", "- no mapping"],
  ["same", JSON.stringify({ secret: "shared-2/one", to: "*", keys: "password", name: "two" })],
];

function entriesNamed(keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(ENTRIES.filter(([key]) => keys.includes(key)));
}

const more: fc.Arbitrary<ChaosStep> = fc.oneof(
  // Sources that work, or there would be little to go wrong.
  {
    weight: 4,
    arbitrary: fc.record({
      kind: constant("source"),
      namespace: fc.constantFrom(...SOURCE_NAMESPACES),
      name: fc.constantFrom("one", "two", "three"),
      words: fc.constantFrom<Readonly<Record<string, string>>>(
        { to: "*", allow: "*" },
        { to: "team-*", "copy-annotations": "*/*" },
        { to: "*", "on-delete": "keep", "copy-labels": "*" },
        { "to-selector": "tier=gold", name: "one" },
      ),
      type: fc.constantFrom("Opaque", "Opaque", "example.com/x"),
      immutable: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: constant("rotate"), ...at }) },
  {
    weight: 5,
    arbitrary: fc
      .record({ ...at, words })
      .map(({ words: [word, value], ...rest }) => ({ kind: "say" as const, word, value, ...rest })),
  },
  { weight: 1, arbitrary: fc.record({ kind: constant("paste"), ...at, to: namespace }) },
  { weight: 2, arbitrary: fc.record({ kind: constant("again"), ...at }) },
  { weight: 1, arbitrary: fc.record({ kind: constant("let go"), ...at }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: constant("list"),
      entries: fc.oneof(
        {
          weight: 5,
          arbitrary: fc
            .subarray(
              ENTRIES.map(([key]) => key),
              { maxLength: 3 },
            )
            .map(entriesNamed),
        },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
      strange: fc.constantFrom(false, false, false, false, true),
    }),
  },
);

const trouble: fc.Arbitrary<ChaosStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: constant("requests"),
      fault: fc.constantFrom(...REQUEST_FAULTS),
      likelihood: fc.constantFrom(0.2, 0.5, 1),
      ms: fc.constantFrom(300, 3000, 20_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: constant("watches"), fault: fc.constantFrom(...WATCH_FAULTS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: constant("jump"),
      replica,
      ms: fc.constantFrom(-3_600_000, -20_000, 20_000, 3_600_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: constant("restart"),
      replica,
      how: fc.constantFrom("kill", "kill", "stop"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: constant("roll out"),
      flags: fc.nat({ max: FLAG_SETS.length - 1 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: constant("moment"),
      ms: fc.constantFrom(0, 5, 50, 300, 1500),
    }),
  },
);

const step: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 10, arbitrary: historySteps },
  { weight: 6, arbitrary: more },
  { weight: 3, arbitrary: trouble },
);

const LONGEST_SCRIPT = 200;

export const scripts: fc.Arbitrary<Script> = fc.record({
  chance: fc.nat({ max: 1_000_000 }),
  replicas: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
  flags: fc.nat({ max: FLAG_SETS.length - 1 }),
  graceMs: fc.constantFrom(10_000, 1000),
  deleteLimit: fc.constantFrom(100, 100, 1),
  steps: fc.array(step, { minLength: 1, maxLength: LONGEST_SCRIPT, size: "max" }),
});
