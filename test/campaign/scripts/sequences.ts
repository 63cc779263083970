// Several steps in a row that chance alone seldom brings.
import * as fc from "fast-check";
import type { Texts } from "../model/raw.ts";
import type { ChaosStep } from "./script.ts";
import { entries, ofKind, published, sourceAt, type SourceAt } from "./steps.ts";

type Sequence = fc.Arbitrary<readonly ChaosStep[]>;

const EVERYWHERE = { to: "*", allow: "*" };
/** Long enough for copies to be made. */
const SERVED = { kind: "pass", ms: 2000 } as const;
/** Where a source is. */
const at = ({ of, namespace, name }: SourceAt) => ({ namespace, name, ...of });

type Filling = readonly [word: string, entries: number, bytes: number];
const muchSaid = fc.record({
  kind: fc.constant("say much" as const),
  word: fc.constantFrom("to", "to", "allow", "keys", "copy-labels"),
  first: fc.constantFrom("team-*", "*"),
  more: fc.constantFrom(99, 100, 900, 1100),
  entries: fc.constantFrom("globs" as const, "names" as const),
});
const lengthened = fc.record({
  kind: fc.constant("lengthen" as const),
  entries: fc.constantFrom(900, 1001),
});
const reaching = (fillings: readonly Filling[]): Sequence =>
  fc
    .tuple(
      // A record would be drawn otherwise, and seeds are kept.
      sourceAt.of,
      sourceAt.namespace,
      sourceAt.name,
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...fillings) },
        { weight: 5, arbitrary: muchSaid },
        { weight: 2, arbitrary: lengthened },
      ),
    )
    .map(([of, namespace, name, bound]): readonly ChaosStep[] => {
      const source = { of, namespace, name };
      if ("kind" in bound && bound.kind === "lengthen") return [bound];
      const place = at(source);
      const made = published(source, EVERYWHERE);
      // What changes after a bound is passed shows whether it was held.
      const rotate = { kind: "rotate" as const, ...place };
      if ("kind" in bound) return [made, { ...bound, ...place }, rotate];
      const [value, entries, bytes] = bound;
      const fill = { kind: "fill" as const, entries, bytes, ...place };
      return [made, fill, { kind: "say", word: "keys", value, ...place }, rotate];
    });
/** What reaches the contract's bounds, each from either side; dear, so a few in a script at most. */
export const bounds = reaching([
  ["*", 900, 0],
  ["*", 998, 0],
  ["*", 999, 0],
  ["x=filled-0,y=filled-0", 1, 500_000],
  ["x=filled-0,y=filled-0", 1, 600_000],
]);
/** As close as can be: 1,000 entries and 1 MiB, and each by the least too much. */
export const closest = reaching([
  ["*", 997, 0],
  ["*", 998, 0],
  ["*", 999, 0],
  ["x=filled-0,y=filled-0", 1, 524_288],
  ["x=filled-0,y=filled-0", 1, 524_289],
]);

export const nextVersions: Sequence = fc
  .record({ kind: fc.constant("next version" as const), marks: fc.boolean() })
  .map((step) => [step]);

const KEPT = { to: "*", "on-delete": "keep" };
const afterwards = fc.constantFrom<Texts | undefined>(
  { allow: "*" },
  { allow: "*" },
  {},
  { "on-delete": "keep" },
  { "on-delete": "delete" },
  { to: "nobody" },
  { to: "nobody", "on-delete": "keep" },
  undefined,
);
/**
 * What ends copies, asked of a source that has just made some: what it says of them then, and what it said
 * before. `undefined` afterwards: the source is deleted.
 */
export const lapses: Sequence = fc
  .record({
    ...sourceAt,
    before: fc.constantFrom(KEPT, KEPT, { to: "*" }),
    ms: fc.constantFrom(300, 2000, 5000),
    afterwards,
  })
  .map(({ before, ms, afterwards: words, ...source }) => [
    published(source, before),
    { kind: "pass", ms },
    words ? published(source, words) : { kind: "delete", ...at(source) },
  ]);

/** A list of exactly 1,000 entries and of one more, one of which is new and makes copies. */
export const longLists: Sequence = fc
  .record({ of: ofKind, more: fc.constantFrom(999, 1000) })
  .map(({ of, more }) => {
    // No other entry names it: that list alone says whether there are copies of it.
    const source = { of, namespace: "shared-2", name: "three" };
    const listed = of.of === "ConfigMap" ? "configMap" : "secret";
    const besides = { long: JSON.stringify({ [listed]: "shared-2/three", to: "*" }) };
    return [
      published(source, {}),
      { kind: "list", entries: {}, strange: false },
      { kind: "lengthen", entries: more, besides },
    ];
  });

/** What the second release's list says: nothing, or keys that the first's has too, for other objects. */
const secondLists = fc.constantFrom<Texts | null>(
  {},
  {},
  null,
  { all: JSON.stringify({ secret: "elsewhere/one", to: "*" }) },
  { tenants: JSON.stringify({ secret: "elsewhere/two", to: "*" }), gold: "- no mapping" },
);
const secondReleases: Sequence = secondLists.map((entries) => [
  { kind: "second release", entries },
]);
const lostMs = fc.constantFrom(2000, 12_000, 40_000);
const emptiedLists: Sequence = fc
  .record({ before: entries, ms: lostMs })
  .map(({ before, ms }) => [
    { kind: "list", entries: before, strange: false },
    SERVED,
    { kind: "list", entries: {}, strange: false },
    { kind: "pass", ms },
  ]);
const lateSources: Sequence = fc
  .record({
    ...sourceAt,
    words: fc.constantFrom<Texts>({ to: "*" }, { to: "*", "on-delete": "keep" }, EVERYWHERE),
    how: fc.constantFrom("kill" as const, "stop" as const),
    ms: lostMs,
    back: fc.boolean(),
  })
  .map(({ words, how, ms, back, ...source }) => [
    published(source, words),
    SERVED,
    { kind: "delete", ...at(source) },
    { kind: "restart", replica: 0, how },
    { kind: "pass", ms },
    ...(back ? [published(source, words)] : []),
  ]);
const halfReplaced: Sequence = fc
  .record({
    ...sourceAt,
    method: fc.constantFrom("DELETE" as const, "DELETE" as const, "POST" as const),
  })
  .map(({ method, ...source }) => {
    // Immutable and with other values: deleted and made anew, so its copies are replaced.
    const immutable = { ...published(source, { to: "*" }), immutable: true };
    return [immutable, SERVED, { kind: "dies after", method }, immutable, SERVED];
  });
const forgeries: Sequence = fc
  .record({
    kind: fc.constant("forge many" as const),
    source: fc.constantFrom("shared/one", "shared-2/two"),
    count: fc.constantFrom(12, 101),
  })
  .map((step) => [step]);
const touches: Sequence = fc
  .record({
    ...sourceAt,
    everyMs: fc.constantFrom(100, 400),
    ms: fc.constantFrom(3000, 12_000),
  })
  .map(({ everyMs, ms, of, namespace, name }) => [
    published({ of, namespace, name }, { to: "*" }),
    SERVED,
    {
      kind: "namespace",
      namespace: "team-b",
      words: { accept: "false" },
      tier: "gold",
      gone: false,
    },
    { kind: "touch", namespace, name, everyMs, ms, ...of },
  ]);
/**
 * Moments in which copies were lost: a release without values beside another, a source list that an
 * upgrade empties, processes that come back before their sources, a death between the two requests of a
 * replace, forged copies of living sources, and a source that is touched without pause.
 */
export const losses: Sequence = fc.oneof(
  { weight: 3, arbitrary: secondReleases },
  { weight: 2, arbitrary: emptiedLists },
  { weight: 3, arbitrary: lateSources },
  { weight: 3, arbitrary: halfReplaced },
  { weight: 1, arbitrary: forgeries },
  { weight: 2, arbitrary: touches },
);
