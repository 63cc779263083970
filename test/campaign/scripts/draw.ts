// Scripts drawn at random by fast-check, which a seed and a draw say again.
import * as fc from "fast-check";
import { isUsers, type ChaosStep, type Script, type UserStep } from "./script.ts";
import { bounds, closest, lapses, longLists, losses, nextVersions } from "./sequences.ts";
import { everydaySteps, flagSets, laterSteps, steps } from "./steps.ts";

type Scripts = fc.Arbitrary<Script>;
/** Where it is put, counted round, and what. */
type Insertion = readonly [at: number, steps: readonly ChaosStep[]];

export const LONGEST_SCRIPT = 600;
const anywhere = fc.nat({ max: 1_000_000 });

const scriptsOf = (least: number, most: number): Scripts =>
  fc.record({
    chance: anywhere,
    replicas: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
    flags: flagSets,
    graceMs: fc.constantFrom(10_000, 1000),
    holdMs: fc.constantFrom(0, 0, 300_000),
    steps: fc.array(steps, { minLength: least, maxLength: most, size: "max" }),
  });

const someOf = <T>(one: fc.Arbitrary<T>, minLength: number, maxLength: number) =>
  fc.array(one, { minLength, maxLength, size: "max" });

function inserted({ steps, ...rest }: Script, insertions: readonly Insertion[]): Script {
  const all = [...steps];
  for (const [at, some] of insertions) all.splice(at % (all.length + 1), 0, ...some);
  return { ...rest, steps: all };
}

const woven = (script: Scripts): Scripts =>
  fc
    .tuple(
      script,
      fc.constantFrom(...Array.from({ length: 9 }, () => false), true),
      someOf(fc.tuple(anywhere, laterSteps), 0, 60),
    )
    .map(([{ flags, ...rest }, holdsCreates, added]) => {
      const given = holdsCreates ? { ...flags, holdsCreates } : flags;
      return inserted(
        { ...rest, flags: given },
        added.map(([at, step]) => [at, [step]]),
      );
    });

/** Half of the scripts reach bounds, and in a third of them another version runs in between. */
const bounded = (script: Scripts): Scripts =>
  fc
    .tuple(
      script,
      someOf(fc.tuple(anywhere, bounds), 0, 5),
      someOf(fc.tuple(anywhere, nextVersions), 0, 4),
      fc.nat({ max: 5 }),
    )
    .map(([rest, atBounds, ofVersions, which]) =>
      inserted(rest, [...(which < 3 ? atBounds : []), ...(which % 3 === 0 ? ofVersions : [])]),
    );

/** Where little comes after, so that the world at rest shows what became of it. */
const AT_THE_END = 8;
const ended = (script: Scripts): Scripts =>
  fc
    .tuple(
      script,
      someOf(fc.tuple(fc.nat({ max: AT_THE_END }), fc.oneof(closest, lapses, longLists)), 1, 4),
    )
    .map(([{ steps, ...rest }, endings]) => {
      const all = [...steps];
      for (const [after, some] of endings) all.splice(Math.max(0, all.length - after), 0, ...some);
      return { ...rest, steps: all };
    });

/** In a third of the scripts somebody runs the program with `--once`, up to three times. */
const withOnce = (script: Scripts): Scripts =>
  fc
    .tuple(script, someOf(anywhere, 1, 3), fc.nat({ max: 2 }))
    .map(([rest, begins, which]) =>
      inserted(rest, which === 0 ? begins.map((at) => [at, [{ kind: "once" }]]) : []),
    );

// The first number is drawn for the sake of the kept seeds, and means nothing.
const withHolds = (script: Scripts): Scripts =>
  fc
    .tuple(script, fc.constantFrom(1000, 10_000, 60_000), fc.constantFrom(0, 30_000, 300_000))
    .map(([rest, , holdMs]) => ({ ...rest, holdMs }));

const withLosses = (script: Scripts): Scripts =>
  fc
    .tuple(script, someOf(fc.tuple(anywhere, losses), 1, 6))
    .map(([rest, added]) => inserted(rest, added));

/**
 * What each draw adds to the one before. It never changes once a seed of it is kept (failed-seeds.ts);
 * what is to be drawn besides makes another.
 */
const ADDED: readonly ((script: Scripts) => Scripts)[] = [
  (script) => script,
  woven,
  bounded,
  ended,
  withOnce,
  withHolds,
  withLosses,
];
/** What a seed means where nobody says by which draw. */
export const NEWEST_DRAW = ADDED.length;

/** Of so many steps, but for the few that a later draw adds. */
export function drawn(draw: number, least = 1, most = LONGEST_SCRIPT): Scripts {
  if (draw < 1 || draw > NEWEST_DRAW) throw new RangeError(`there is no draw ${draw}`);
  return ADDED.slice(0, draw).reduce((script, add) => add(script), scriptsOf(least, most));
}

const STEPS_AT_ONCE = 500;

/** What users do, without an end and without faults between: another order for each seed. */
export function* userSteps(seed: number): Generator<UserStep, never> {
  const all = fc.oneof(
    { weight: 5, arbitrary: steps },
    { weight: 1, arbitrary: laterSteps },
    { weight: 12, arbitrary: everydaySteps },
  );
  for (let round = seed; ; round++)
    yield* fc.sample(all, { seed: round, numRuns: STEPS_AT_ONCE }).filter(isUsers);
}
