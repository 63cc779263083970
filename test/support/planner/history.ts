// Random histories of a small cluster for the property test: what users, tenants and time may do, in
// any order, with passes of the planner in between. A history is data, so that it can be run twice and
// fast-check can shrink it.
import * as fc from "fast-check";
import type { Texts } from "./raw-cluster.ts";
import { OBJECT_KINDS, type ObjectKind } from "../../../src/controller/model/kinds.ts";

export const SOURCE_NAMESPACES = ["shared", "shared-2"] as const;
export const TENANT = "team-a";
export const NAMESPACES = [
  ...SOURCE_NAMESPACES,
  TENANT,
  "team-b",
  "team-c",
  "kube-system",
] as const;
const NAMES = ["one", "two", "three"] as const;

/** Values of `to` and the namespaces that they name, written by hand. */
const TO: Readonly<Record<string, readonly string[]>> = {
  "*": NAMESPACES,
  "team-*": [TENANT, "team-b", "team-c"],
  "!team-b": NAMESPACES.filter((name) => name !== "team-b"),
  "team-a,team-c": [TENANT, "team-c"],
  "team-?, !team-a": ["team-b", "team-c"],
  nowhere: [],
};

export type Step =
  | {
      readonly kind: "source";
      readonly namespace: string;
      readonly name: string;
      readonly words: Texts;
      readonly type: string;
      readonly immutable: boolean;
    }
  | {
      readonly kind: "stranger" | "pull";
      readonly namespace: string;
      readonly name: string;
      readonly words: Texts;
    }
  | {
      readonly kind: "forge";
      readonly name: string;
      readonly source: string;
      readonly uid: string;
      readonly words: Texts;
    }
  | {
      readonly kind: "delete" | "edit" | "strip" | "freeze" | "doom";
      readonly namespace: string;
      readonly name: string;
    }
  | {
      readonly kind: "namespace";
      readonly namespace: string;
      readonly words: Texts;
      readonly tier: string;
      readonly gone: boolean;
    }
  | { readonly kind: "pass"; readonly ms: number };

const name = fc.constantFrom(...NAMES);
const namespace = fc.constantFrom(...NAMESPACES);
const sourceNamespace = fc.constantFrom(...SOURCE_NAMESPACES);
const sourceRef = fc.tuple(sourceNamespace, name).map((parts) => parts.join("/"));
const toText = fc.constantFrom(...Object.keys(TO));

/** What is understood, so that every rule meets every other ... */
const soundWords = {
  to: toText,
  "to-selector": fc.constantFrom("tier=gold", "tier!=gold", "tier in (gold,tin)"),
  name,
  keys: fc.constantFrom("*", "!user", "password", "*,pass=password", "absent"),
  "copy-labels": fc.constantFrom("*", "example.com/*"),
  "copy-annotations": fc.constantFrom("*", "*/*"),
  "on-delete": fc.constantFrom("delete", "keep"),
  paused: fc.constantFrom("true", "false", "false"),
  allow: toText,
};
/** ... and one mistake in some of them. */
const mistakes = fc.constantFrom<Texts>(
  { to: "" },
  { to: "Team_A" },
  { to: "a,,b" },
  { "to-selector": "tier ~ x" },
  { name: "Not A Name" },
  { keys: "a=absent" },
  { "on-delete": "later" },
  { paused: "perhaps" },
  { "to-selecter": "typo" },
);

const sourceWords: fc.Arbitrary<Texts> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom<Texts>({ to: "*" }, { to: "team-*" }, { to: "nowhere" }),
  },
  { weight: 4, arbitrary: fc.record(soundWords, { requiredKeys: [] }).map(texts) },
  { weight: 1, arbitrary: mistakes.map((mistake) => ({ to: "*", ...mistake })) },
);

function texts(words: Readonly<Record<string, string | undefined>>): Texts {
  return Object.fromEntries(
    Object.entries(words).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

export const historySteps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("source" as const),
      namespace: sourceNamespace,
      name,
      words: sourceWords,
      type: fc.constantFrom("Opaque", "Opaque", "example.com/x", "helm.sh/release.v1"),
      immutable: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ namespace, name, adopt: fc.boolean(), from: sourceNamespace })
      .map(({ namespace, name, adopt, from }) => {
        const words: Texts = adopt ? { adopt: `${from}/${name}` } : {};
        return { kind: "stranger" as const, namespace, name, words };
      }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("pull" as const),
      namespace,
      name: fc.constantFrom("pull-1", "pull-2", "one"),
      words: fc
        .record(
          {
            from: sourceRef,
            keys: fc.constantFrom("password", "!user", "x=user"),
            "on-delete": fc.constantFrom("delete", "keep"),
          },
          { requiredKeys: ["from"] },
        )
        .map(texts),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("forge" as const),
      name: fc.constantFrom(...NAMES, "forged"),
      source: fc.oneof(sourceRef, fc.constant("shared/never-was"), fc.constant("team-b/one")),
      uid: fc.constantFrom("uid-1", "uid-9", "made-up", ""),
      words: fc.constantFrom<Texts>(
        {},
        { "on-delete": "keep" },
        { entry: "of-a-newer-version" },
        { "copied-keys": "label:x,label:app.kubernetes.io/managed-by" },
        { from: "shared/one" },
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("delete", "edit", "strip", "freeze", "doom"),
      namespace,
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("namespace" as const),
      namespace: fc.constantFrom("shared-2", TENANT, "team-b", "team-c"),
      words: fc.constantFrom<Texts>(
        {},
        {},
        { accept: "true" },
        { accept: "false" },
        { accept: "shared/*" },
        { accept: "!shared/one" },
        { accept: "maybe" },
      ),
      tier: fc.constantFrom("gold", "tin"),
      gone: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 200, 2000, 15_000, 400_000),
    }),
  },
);

export type History = {
  /** Of its objects. */
  readonly objects: ObjectKind;
  readonly policy: "opt-out" | "opt-in";
  readonly holdMs: number;
  readonly steps: readonly Step[];
};

export const histories: fc.Arbitrary<History> = fc.record({
  objects: fc.constantFrom(...OBJECT_KINDS),
  policy: fc.constantFrom("opt-out", "opt-out", "opt-in"),
  holdMs: fc.constantFrom(0, 300_000, 300_000, 300_000),
  steps: fc.array(historySteps, { minLength: 1, maxLength: 40, size: "max" }),
});

export function isTenants(one: Step): boolean {
  return (
    one.kind !== "pass" &&
    one.kind !== "namespace" &&
    (one.kind === "forge" || one.namespace === TENANT)
  );
}
