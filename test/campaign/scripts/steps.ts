// Single steps of a script, drawn at random by fast-check.
import * as fc from "fast-check";
import { historySteps, NAMESPACES, SOURCE_NAMESPACES } from "../../support/planner/history.ts";
import type { Texts } from "../model/raw.ts";
import { isUsers, REQUEST_FAULTS, WATCH_FAULTS, type ChaosStep, type FlagSet } from "./script.ts";

export const flagSets: fc.Arbitrary<FlagSet> = fc.record({
  sourceNamespaces: fc.constantFrom(
    "shared,shared-2",
    "shared,shared-2",
    "shared-2,shared",
    "shared",
    "shared-*,shared",
    "*",
    "*,!team-c",
    "shared,*",
    "!team-b",
  ),
  policy: fc.constantFrom(undefined, "opt-out", "opt-out", "opt-out", "opt-in"),
  exclude: fc.constantFrom("", "", "", "team-c", "team-b", "team-?,!team-a"),
  includeSystem: fc.constantFrom(false, false, false, true),
  namespaces: fc.constantFrom(
    "",
    "",
    "",
    "",
    "team-a,team-b,shared",
    "team-c,shared-2,kube-system",
  ),
  copyable: fc.constantFrom("", "", "argocd.argoproj.io/*,owner"),
  configMaps: fc.boolean(),
});

const constant = <T extends string>(kind: T): fc.Arbitrary<T> => fc.constant(kind);
const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom("one", "two", "three", "one", "two", "pull-1", "forged");
const at = { namespace: fc.oneof(namespace, fc.constantFrom(...SOURCE_NAMESPACES)), name };
const replica = fc.nat({ max: 2 });
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
  ["match", "any"],
  ["match", null],
  ["to-selector", "tier=gold"],
  ["to-selector", null],
  ["allow-selector", "tier!=gold"],
  ["allow-selector", null],
  ["copy-labels", "*,*/*"],
  ["copy-annotations", "*/*"],
  ["copy-annotations", null],
  ["keys", "*,pass=password"],
  ["from", "team-a/two"],
  ["adopt", "shared-2/two"],
  ["future", "mark"],
  ["placed-at", "elsewhere/x"],
  ["source-uid", "forged"],
  ["source-version", null],
);
const labels = fc.constantFrom<readonly [string, string | null]>(
  ["app.kubernetes.io/managed-by", null],
  ["app.kubernetes.io/managed-by", "Helm"],
  ["app.kubernetes.io/managed-by", "secretcast"],
  ["example.com/team", "other"],
  ["example.com/team", null],
  ["owner", "somebody"],
);

/** A source that works, and its kind: spread, so that it is no field of a step about a Secret. */
export type SourceAt = {
  readonly of: { readonly of?: "ConfigMap" };
  readonly namespace: string;
  readonly name: string;
};
export const ofKind = fc.constantFrom<SourceAt["of"]>({}, {}, { of: "ConfigMap" });
export const sourceAt = {
  of: ofKind,
  namespace: fc.constantFrom(...SOURCE_NAMESPACES),
  name: fc.constantFrom("one", "two", "three"),
};
/** An entry of two more goes with it, so that what follows meets something. */
export const published = ({ of, namespace, name }: SourceAt, words: Texts) => ({
  kind: "source" as const,
  words,
  type: "Opaque",
  immutable: false,
  namespace,
  name,
  ...of,
});

// JSON, which is YAML as well. Of several with one key the last counts.
const ENTRIES: readonly (readonly [string, object | string])[] = [
  ["all", { secret: "shared/one", to: "*" }],
  ["all", { secret: "shared/two", to: "*" }],
  ["all", { configMap: "shared/one", to: "*" }],
  ["tenants", { secret: "team-a/two", to: "team-*,shared-2", name: "three" }],
  ["tenants", { configMap: "team-a/two", to: "team-*,shared-2", "copy-annotations": "*/*" }],
  ["gold", { secret: "team-b/one", "to-selector": "tier=gold", "on-delete": "keep" }],
  ["gold", { configMap: "team-b/one", "to-selector": "tier=gold", "on-delete": "keep" }],
  ["any", { secret: "shared-2/two", to: "team-a,!team-b", "to-selector": "tier", match: "any" }],
  ["offer", { secret: "shared/two", allow: "*" }],
  ["offer", { configMap: "shared/two", allow: "*" }],
  ["again", { secret: "shared/one", allow: "*" }],
  ["typo", { secret: "shared/two", to: "*", keyz: "x" }],
  ["none", "- no mapping"],
  ["empty", { secret: "shared-2/one", to: "" }],
  ["same", { secret: "shared-2/one", to: "*", keys: "password", name: "two" }],
  ["labels", { secret: "team-c/three", to: "*", "copy-labels": "*", paused: "false" }],
];
export const entries: fc.Arbitrary<Texts> = fc
  .subarray([...ENTRIES], { maxLength: 4 })
  .map((chosen) =>
    Object.fromEntries(
      chosen.map(([key, entry]) => [
        key,
        typeof entry === "string" ? entry : JSON.stringify(entry),
      ]),
    ),
  );

// Sources that work, or there would be little to go wrong.
const source = fc.record({
  kind: constant("source"),
  namespace: fc.constantFrom(...SOURCE_NAMESPACES, ...SOURCE_NAMESPACES, "team-a", "team-c"),
  name: fc.constantFrom("one", "two", "three"),
  words: fc.constantFrom<Texts>(
    { to: "*", allow: "*" },
    { to: "team-*", "copy-annotations": "*/*" },
    { to: "*", "on-delete": "keep", "copy-labels": "*" },
    { "to-selector": "tier=gold", name: "one" },
    { to: "team-a,!team-b", "to-selector": "tier=gold", match: "any" },
    { to: "*", "copy-labels": "*", "copy-annotations": "*/*", keys: "!user" },
    { "allow-selector": "tier=gold", allow: "team-*", match: "any" },
  ),
  type: fc.constantFrom("Opaque", "Opaque", "example.com/x", "kubernetes.io/tls"),
  immutable: fc.constantFrom(false, false, true),
});
const say = fc
  .record({ ...at, words })
  .map(({ words: [word, value], ...rest }) => ({ kind: "say" as const, word, value, ...rest }));
const list = fc.record({
  kind: constant("list"),
  entries: fc.oneof({ weight: 5, arbitrary: entries }, { weight: 1, arbitrary: fc.constant(null) }),
  strange: fc.constantFrom(false, false, false, false, true),
});
const more: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 4, arbitrary: source },
  { weight: 5, arbitrary: fc.record({ kind: constant("rotate"), ...at }) },
  { weight: 5, arbitrary: say },
  { weight: 1, arbitrary: fc.record({ kind: constant("paste"), ...at, to: namespace }) },
  { weight: 2, arbitrary: fc.record({ kind: constant("again"), ...at }) },
  { weight: 1, arbitrary: fc.record({ kind: constant("let go"), ...at }) },
  { weight: 3, arbitrary: list },
);

const requests = fc.record({
  kind: constant("requests"),
  fault: fc.constantFrom(...REQUEST_FAULTS),
  likelihood: fc.constantFrom(0.2, 0.5, 1),
  ms: fc.constantFrom(300, 3000, 20_000),
});
const watches = fc.record({ kind: constant("watches"), fault: fc.constantFrom(...WATCH_FAULTS) });
const jumps = fc.constantFrom(-3_600_000, -20_000, 20_000, 3_600_000);
const hows = fc.constantFrom("kill" as const, "kill" as const, "stop" as const);
const moments = fc.constantFrom(0, 0, 5, 50, 300, 1500);
const trouble: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 4, arbitrary: requests },
  { weight: 3, arbitrary: watches },
  { weight: 1, arbitrary: fc.record({ kind: constant("jump"), replica, ms: jumps }) },
  { weight: 2, arbitrary: fc.record({ kind: constant("restart"), replica, how: hows }) },
  { weight: 1, arbitrary: fc.record({ kind: constant("roll out"), flags: flagSets }) },
  { weight: 10, arbitrary: fc.record({ kind: constant("moment"), ms: moments }) },
);

// Waits are what is dear: most are short, and a few long ones show what they show.
const SHORT_MS = 2000;
const waits = historySteps.chain((step) =>
  step.kind === "pass" && step.ms > SHORT_MS
    ? fc.constantFrom(step, ...Array.from({ length: 4 }, () => ({ ...step, ms: SHORT_MS })))
    : fc.constant(step),
);

const KINDLESS: readonly string[] = ["namespace", "list"];
const ofKinds = (steps: fc.Arbitrary<ChaosStep>): fc.Arbitrary<ChaosStep> =>
  fc.tuple(steps, fc.constantFrom(undefined, undefined, "ConfigMap" as const)).map(([step, of]) => {
    return isUsers(step) && !KINDLESS.includes(step.kind) && of ? { ...step, of } : step;
  });

export const steps: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 10, arbitrary: ofKinds(waits) },
  { weight: 12, arbitrary: ofKinds(more) },
  { weight: 5, arbitrary: trouble },
);

const label = fc.record({ ...at, label: labels }).map(({ label: [key, value], ...rest }) => {
  return { kind: "label" as const, key, value, ...rest };
});
const back = fc.constantFrom(3, 20, 100, 400);
const rollOut = fc.tuple(flagSets, fc.boolean()).map(([flags, holdsCreates]) => {
  return { kind: "roll out" as const, flags: { ...flags, holdsCreates } };
});
/** What came later than the seeds that are kept: drawn after all else, so that those mean the same. */
export const laterSteps: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 4, arbitrary: ofKinds(label) },
  { weight: 1, arbitrary: fc.record({ kind: constant("restore"), back }) },
  { weight: 1, arbitrary: rollOut },
);

const sources = {
  namespace: fc.constantFrom(...SOURCE_NAMESPACES),
  name: fc.constantFrom("one", "two"),
};
const targets = { namespace: fc.constantFrom("team-a", "team-b", "team-c"), name: sources.name };
const publishing = fc
  .record({
    ...sources,
    of: ofKind,
    to: fc.constantFrom("*", "*", "team-*", "team-a", "nowhere"),
  })
  .map(({ to, ...source }) => published(source, { to }));
const space = fc.record({
  kind: constant("namespace"),
  namespace: targets.namespace,
  words: fc.constantFrom<Texts>({}, {}, { accept: "false" }),
  tier: fc.constant("gold"),
  gone: fc.constantFrom(false, false, false, true),
});
/** What clears the way again and moves copies about, so that a run without an end goes on to make some. */
export const everydaySteps: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 4, arbitrary: publishing },
  { weight: 3, arbitrary: ofKinds(fc.record({ kind: constant("rotate"), ...sources })) },
  { weight: 1, arbitrary: ofKinds(fc.record({ kind: constant("delete"), ...sources })) },
  { weight: 6, arbitrary: ofKinds(fc.record({ kind: constant("delete"), ...targets })) },
  { weight: 1, arbitrary: ofKinds(fc.record({ kind: constant("edit"), ...targets })) },
  { weight: 2, arbitrary: space },
  { weight: 1, arbitrary: fc.constant({ kind: "list", entries: null, strange: false }) },
);
