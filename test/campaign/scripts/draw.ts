// Scripts drawn at random by fast-check, which also shrinks them.
import * as fc from "fast-check";
import { lapses, longLists, ofKind, published } from "./endings.ts";
import { historySteps, NAMESPACES, SOURCE_NAMESPACES } from "../../support/planner/history.ts";
import {
  isUsers,
  REQUEST_FAULTS,
  WATCH_FAULTS,
  type ChaosStep,
  type FlagSet,
  type Script,
  type UserStep,
} from "./script.ts";

const flagSets: fc.Arbitrary<FlagSet> = fc.record({
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
const entries = fc
  .subarray(
    ENTRIES.map(([key, entry]): [string, string] => [
      key,
      typeof entry === "string" ? entry : JSON.stringify(entry),
    ]),
    { maxLength: 4 },
  )
  .map((chosen): Readonly<Record<string, string>> => Object.fromEntries(chosen));

const more: fc.Arbitrary<ChaosStep> = fc.oneof(
  // Sources that work, or there would be little to go wrong.
  {
    weight: 4,
    arbitrary: fc.record({
      kind: constant("source"),
      namespace: fc.constantFrom(...SOURCE_NAMESPACES, ...SOURCE_NAMESPACES, "team-a", "team-c"),
      name: fc.constantFrom("one", "two", "three"),
      words: fc.constantFrom<Readonly<Record<string, string>>>(
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
          arbitrary: entries,
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
      flags: flagSets,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: constant("moment"),
      ms: fc.constantFrom(0, 0, 5, 50, 300, 1500),
    }),
  },
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

const LABELS = fc.constantFrom<readonly [string, string | null]>(
  ["app.kubernetes.io/managed-by", null],
  ["app.kubernetes.io/managed-by", "Helm"],
  ["app.kubernetes.io/managed-by", "secretcast"],
  ["example.com/team", "other"],
  ["example.com/team", null],
  ["owner", "somebody"],
);

const step: fc.Arbitrary<ChaosStep> = fc.oneof(
  { weight: 10, arbitrary: ofKinds(waits) },
  { weight: 12, arbitrary: ofKinds(more) },
  { weight: 5, arbitrary: trouble },
);

export const LONGEST_SCRIPT = 600;

const scriptsOf = (least: number, most: number): fc.Arbitrary<Script> =>
  fc.record({
    chance: fc.nat({ max: 1_000_000 }),
    replicas: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
    flags: flagSets,
    graceMs: fc.constantFrom(10_000, 1000),
    deleteLimit: fc.constantFrom(100, 100, 1),
    steps: fc.array(step, { minLength: least, maxLength: most, size: "max" }),
  });

/** What came later than the seeds that are kept: drawn after all else, so that those mean the same. */
const later: fc.Arbitrary<ChaosStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: ofKinds(
      fc.record({ ...at, label: LABELS }).map(({ label: [key, value], ...rest }) => ({
        kind: "label" as const,
        key,
        value,
        ...rest,
      })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: constant("restore"), back: fc.constantFrom(3, 20, 100, 400) }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(flagSets, fc.boolean()).map(([flags, holdsCreates]) => ({
      kind: "roll out" as const,
      flags: { ...flags, holdsCreates },
    })),
  },
);

const EVERYWHERE = { to: "*", allow: "*" };
type Filling = readonly [word: string, entries: number, bytes: number];
const large = fc.constantFrom<Filling>(
  ["*", 900, 0],
  ["*", 998, 0],
  ["*", 999, 0],
  ["x=filled-0,y=filled-0", 1, 500_000],
  ["x=filled-0,y=filled-0", 1, 600_000],
);
/** What reaches the contract's bounds, each from either side; dear, so a few in a script at most. */
const reaching = (filling: fc.Arbitrary<Filling>): fc.Arbitrary<readonly ChaosStep[]> =>
  fc
    .tuple(
      ofKind,
      fc.constantFrom(...SOURCE_NAMESPACES),
      fc.constantFrom("one", "two", "three"),
      fc.oneof(
        { weight: 5, arbitrary: filling },
        {
          weight: 5,
          arbitrary: fc.record({
            kind: constant("say much"),
            word: fc.constantFrom("to", "to", "allow", "keys", "copy-labels"),
            first: fc.constantFrom("team-*", "*"),
            more: fc.constantFrom(99, 100, 900, 1100),
            entries: fc.constantFrom("globs", "names"),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: constant("lengthen"),
            entries: fc.constantFrom(900, 1001),
          }),
        },
      ),
    )
    .map(([of, namespace, name, bound]): readonly ChaosStep[] => {
      if ("kind" in bound && bound.kind === "lengthen") return [bound];
      const source = { ...published(namespace, name, EVERYWHERE), ...of };
      // What changes after a bound is passed shows whether it was held.
      const rotate = { kind: "rotate" as const, namespace, name, ...of };
      if ("kind" in bound) return [source, { ...bound, namespace, name, ...of }, rotate];
      const [value, entries, bytes] = bound;
      const fill = { kind: "fill" as const, entries, bytes, namespace, name, ...of };
      return [source, fill, { kind: "say", word: "keys", value, namespace, name, ...of }, rotate];
    });
const bounds = reaching(large);
/** As close as can be: 1,000 entries and 1 MiB, and each by the least too much. */
const closest = reaching(
  fc.constantFrom<Filling>(
    ["*", 997, 0],
    ["*", 998, 0],
    ["*", 999, 0],
    ["x=filled-0,y=filled-0", 1, 524_288],
    ["x=filled-0,y=filled-0", 1, 524_289],
  ),
);
const nextVersions: fc.Arbitrary<readonly ChaosStep[]> = fc
  .record({ kind: constant("next version"), marks: fc.boolean() })
  .map((step) => [step]);

/** Half of the scripts reach bounds, and in a third of them another version runs in between. */
const bounded = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(
      script,
      fc.array(fc.tuple(fc.nat({ max: 1_000_000 }), bounds), { maxLength: 5, size: "max" }),
      fc.array(fc.tuple(fc.nat({ max: 1_000_000 }), nextVersions), { maxLength: 4, size: "max" }),
      fc.nat({ max: 5 }),
    )
    .map(([{ steps, ...rest }, atBounds, ofVersions, which]) => {
      const all = [...steps];
      const added = [...(which < 3 ? atBounds : []), ...(which % 3 === 0 ? ofVersions : [])];
      for (const [at, some] of added) all.splice(at % (all.length + 1), 0, ...some);
      return { ...rest, steps: all };
    });

const woven = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(
      script,
      fc.constantFrom(...Array.from({ length: 9 }, () => false), true),
      fc.array(fc.tuple(fc.nat({ max: 1_000_000 }), later), { maxLength: 60, size: "max" }),
    )
    .map(([{ flags, steps, ...rest }, holdsCreates, added]) => {
      const all = [...steps];
      for (const [at, step] of added) all.splice(at % (all.length + 1), 0, step);
      return { ...rest, flags: holdsCreates ? { ...flags, holdsCreates } : flags, steps: all };
    });

/** Where little comes after, so that the world at rest shows what became of it. */
const AT_THE_END = 8;
const ended = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(
      script,
      fc.array(fc.tuple(fc.nat({ max: AT_THE_END }), fc.oneof(closest, lapses, longLists)), {
        minLength: 1,
        maxLength: 4,
        size: "max",
      }),
    )
    .map(([{ steps, ...rest }, endings]) => {
      const all = [...steps];
      for (const [after, some] of endings) all.splice(Math.max(0, all.length - after), 0, ...some);
      return { ...rest, steps: all };
    });

/** In a third of the scripts somebody runs the program with `--once`, up to three times. */
const withOnce = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(
      script,
      fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 3, size: "max" }),
      fc.nat({ max: 2 }),
    )
    .map(([{ steps, ...rest }, begins, which]) => {
      const all = [...steps];
      if (which === 0)
        for (const at of begins) all.splice(at % (all.length + 1), 0, { kind: "once" });
      return { ...rest, steps: all };
    });

const withHolds = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(script, fc.constantFrom(1000, 10_000, 60_000), fc.constantFrom(0, 30_000, 300_000))
    .map(([rest, sourceGraceMs, holdMs]) => ({ ...rest, sourceGraceMs, holdMs }));

/** What the second release's list says: nothing, or keys that the first's has too, for other objects. */
const secondLists = fc.constantFrom<Readonly<Record<string, string>> | null>(
  {},
  {},
  null,
  { all: JSON.stringify({ secret: "elsewhere/one", to: "*" }) },
  { tenants: JSON.stringify({ secret: "elsewhere/two", to: "*" }), gold: "- no mapping" },
);
const LOST_MS = [2000, 12_000, 40_000];
/**
 * Moments in which copies were lost: a release without values beside another, a source list that an
 * upgrade empties, processes that come back before their sources, a death between the two requests of a
 * replace, forged copies of living sources, and a source that is touched without pause.
 */
const losses: fc.Arbitrary<readonly ChaosStep[]> = fc.oneof(
  {
    weight: 3,
    arbitrary: secondLists.map((entries) => [{ kind: "second release" as const, entries }]),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ before: entries, ms: fc.constantFrom(...LOST_MS) })
      .map(({ before, ms }): readonly ChaosStep[] => [
        { kind: "list", entries: before, strange: false },
        { kind: "pass", ms: 2000 },
        { kind: "list", entries: {}, strange: false },
        { kind: "pass", ms },
      ]),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        of: ofKind,
        namespace: fc.constantFrom(...SOURCE_NAMESPACES),
        name: fc.constantFrom("one", "two", "three"),
        words: fc.constantFrom({ to: "*" }, { to: "*", "on-delete": "keep" }, EVERYWHERE),
        how: fc.constantFrom("kill" as const, "stop" as const),
        ms: fc.constantFrom(...LOST_MS),
        back: fc.boolean(),
      })
      .map(({ of, namespace, name, words: said, how, ms, back }): readonly ChaosStep[] => {
        const source = { ...published(namespace, name, said), ...of };
        return [
          source,
          { kind: "pass", ms: 2000 },
          { kind: "delete", namespace, name, ...of },
          { kind: "restart", replica: 0, how },
          { kind: "pass", ms },
          ...(back ? [source] : []),
        ];
      }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        of: ofKind,
        namespace: fc.constantFrom(...SOURCE_NAMESPACES),
        name: fc.constantFrom("one", "two", "three"),
        method: fc.constantFrom("DELETE" as const, "DELETE" as const, "POST" as const),
      })
      .map(({ of, namespace, name, method }): readonly ChaosStep[] => {
        const source = { ...published(namespace, name, { to: "*" }), ...of, immutable: true };
        return [
          source,
          { kind: "pass", ms: 2000 },
          { kind: "dies after", method },
          // Immutable and with other values: deleted and made anew, so its copies are replaced.
          source,
          { kind: "pass", ms: 2000 },
        ];
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        kind: constant("forge many"),
        source: fc.constantFrom("shared/one", "shared-2/two"),
        count: fc.constantFrom(12, 101),
      })
      .map((step) => [step]),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        of: ofKind,
        namespace: fc.constantFrom(...SOURCE_NAMESPACES),
        name: fc.constantFrom("one", "two", "three"),
        everyMs: fc.constantFrom(100, 400),
        ms: fc.constantFrom(3000, 12_000),
      })
      .map(({ of, namespace, name, everyMs, ms }): readonly ChaosStep[] => [
        { ...published(namespace, name, { to: "*" }), ...of },
        { kind: "pass", ms: 2000 },
        {
          kind: "namespace",
          namespace: "team-b",
          words: { accept: "false" },
          tier: "gold",
          gone: false,
        },
        { kind: "touch", namespace, name, everyMs, ms, ...of },
      ]),
  },
);
const withLosses = (script: fc.Arbitrary<Script>): fc.Arbitrary<Script> =>
  fc
    .tuple(
      script,
      fc.array(fc.tuple(fc.nat({ max: 1_000_000 }), losses), {
        minLength: 1,
        maxLength: 6,
        size: "max",
      }),
    )
    .map(([{ steps, ...rest }, added]) => {
      const all = [...steps];
      for (const [at, some] of added) all.splice(at % (all.length + 1), 0, ...some);
      return { ...rest, steps: all };
    });

/**
 * What a seed means. A draw never changes once a seed of it is kept (failed-seeds.ts); what is to be
 * drawn besides makes another.
 */
const DRAWS: Readonly<Record<number, (least: number, most: number) => fc.Arbitrary<Script>>> = {
  1: scriptsOf,
  2: (least, most) => woven(scriptsOf(least, most)),
  3: (least, most) => bounded(woven(scriptsOf(least, most))),
  4: (least, most) => ended(bounded(woven(scriptsOf(least, most)))),
  5: (least, most) => withOnce(ended(bounded(woven(scriptsOf(least, most))))),
  6: (least, most) => withHolds(withOnce(ended(bounded(woven(scriptsOf(least, most)))))),
  7: (least, most) =>
    withLosses(withHolds(withOnce(ended(bounded(woven(scriptsOf(least, most))))))),
};
/** What a seed means where nobody says by which draw. */
export const NEWEST_DRAW = 7;

/** Of so many steps, but for the few that a later draw adds. */
export function drawn(draw: number, least = 1, most = LONGEST_SCRIPT): fc.Arbitrary<Script> {
  const arbitrary = DRAWS[draw];
  if (!arbitrary) throw new RangeError(`there is no draw ${draw}`);
  return arbitrary(least, most);
}

const STEPS_AT_ONCE = 500;

const sources = {
  namespace: fc.constantFrom(...SOURCE_NAMESPACES),
  name: fc.constantFrom("one", "two"),
};
const targets = { namespace: fc.constantFrom("team-a", "team-b", "team-c"), name: sources.name };
/** What clears the way again and moves copies about, so that a run without an end goes on to make some. */
const everyday: fc.Arbitrary<ChaosStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        ...sources,
        of: ofKind,
        to: fc.constantFrom("*", "*", "team-*", "team-a", "nowhere"),
      })
      .map(({ namespace: at, name: named, of, to }) => ({
        ...published(at, named, { to }),
        ...of,
      })),
  },
  { weight: 3, arbitrary: ofKinds(fc.record({ kind: constant("rotate"), ...sources })) },
  { weight: 1, arbitrary: ofKinds(fc.record({ kind: constant("delete"), ...sources })) },
  { weight: 6, arbitrary: ofKinds(fc.record({ kind: constant("delete"), ...targets })) },
  { weight: 1, arbitrary: ofKinds(fc.record({ kind: constant("edit"), ...targets })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: constant("namespace"),
      namespace: targets.namespace,
      words: fc.constantFrom<Readonly<Record<string, string>>>({}, {}, { accept: "false" }),
      tier: fc.constant("gold"),
      gone: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "list", entries: null, strange: false }) },
);

/** What users do, without an end and without faults between: another order for each seed. */
export function* userSteps(seed: number): Generator<UserStep, never> {
  const steps = fc.oneof(
    { weight: 5, arbitrary: step },
    { weight: 1, arbitrary: later },
    { weight: 12, arbitrary: everyday },
  );
  for (let round = seed; ; round++)
    yield* fc.sample(steps, { seed: round, numRuns: STEPS_AT_ONCE }).filter(isUsers);
}
