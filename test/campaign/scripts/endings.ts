// Several steps in a row that chance alone seldom brings, for a script to end with, so that the world at
// rest shows what became of them.
import * as fc from "fast-check";
import type { ChaosStep } from "./script.ts";
import { SOURCE_NAMESPACES } from "../../support/planner/history.ts";

type Words = Readonly<Record<string, string>>;

export const ofKind = fc.constantFrom<{ readonly of?: "ConfigMap" }>({}, {}, { of: "ConfigMap" });

/** A source with an entry of two more, so that what follows meets something. */
export const published = (namespace: string, name: string, words: Words) => ({
  kind: "source" as const,
  words,
  type: "Opaque",
  immutable: false,
  namespace,
  name,
});

const KEPT = { to: "*", "on-delete": "keep" };
const AT_WORK_MS = [300, 2000, 5000];
const afterwards = fc.constantFrom<Words | undefined>(
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
export const lapses: fc.Arbitrary<readonly ChaosStep[]> = fc
  .record({
    of: ofKind,
    namespace: fc.constantFrom(...SOURCE_NAMESPACES),
    name: fc.constantFrom("one", "two", "three"),
    before: fc.constantFrom(KEPT, KEPT, { to: "*" }),
    ms: fc.constantFrom(...AT_WORK_MS),
    afterwards,
  })
  .map(({ of, namespace, name, before, ms, afterwards: words }) => [
    { ...published(namespace, name, before), ...of },
    { kind: "pass", ms },
    words
      ? { ...published(namespace, name, words), ...of }
      : { kind: "delete", namespace, name, ...of },
  ]);

/** A list of exactly 1,000 entries and of one more, one of which is new and makes copies. */
export const longLists: fc.Arbitrary<readonly ChaosStep[]> = fc
  .record({ of: ofKind, more: fc.constantFrom(999, 1000) })
  .map(({ of, more }) => {
    // No other entry names it: that list alone says whether there are copies of it.
    const [namespace, name] = ["shared-2", "three"];
    const listed = of.of === "ConfigMap" ? "configMap" : "secret";
    const besides = { long: JSON.stringify({ [listed]: `${namespace}/${name}`, to: "*" }) };
    return [
      { ...published(namespace, name, {}), ...of },
      { kind: "list", entries: {}, strange: false },
      { kind: "lengthen", entries: more, besides },
    ];
  });
