// What a source wants of a namespace is worked out once for their two versions, and in turns.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PlannerMemory } from "../../../src/controller/state/planner-memory.ts";
import { plan } from "../../../src/controller/plan/plan.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { Cluster, runPlan, settingsOf } from "../../support/planner/planner-cluster.ts";
import { refText } from "../../../src/text/names.ts";

/** Steps that the globs of all sources were asked for, as they come. */
class Watched extends Cluster {
  asked = 0;
  steps = 0;

  source(name: string, to: string): void {
    this.secret(`shared/${name}`, { to });
    const secret = this.cached(`shared/${name}`);
    const globs = secret.role === "source" ? secret.rule.to?.globs : undefined;
    assert.ok(globs);
    const matches = globs.matches.bind(globs);
    const counted = (namespace: string): boolean => {
      this.asked++;
      this.steps += globs.steps(namespace.length);
      return matches(namespace);
    };
    Object.defineProperty(globs, "matches", { value: counted });
  }

  askedBy(change: () => void): number {
    change();
    const before = this.asked;
    this.plan();
    return this.asked - before;
  }
}

function watched(sources: number, namespaces: number): Watched {
  const made = new Watched();
  made.namespace("shared");
  for (let at = 0; at < namespaces; at++) made.namespace(`team-${at}`, {}, {}, at);
  for (let at = 0; at < sources; at++) made.source(`s-${at}`, `team-*,!team-${at}`);
  return made;
}

test("a source and a namespace are matched once for their two versions", () => {
  const made = watched(5, 40);
  const nothing = (): void => {};
  assert.equal(made.askedBy(nothing), 5 * 40);
  assert.equal(made.askedBy(nothing), 0);
  const changed = made.askedBy(() => made.source("s-1", "team-1"));
  assert.equal(changed, 40, "a changed rule is asked of each namespace");
  assert.equal(
    made.askedBy(() => made.source("s-1", "team-1")),
    0,
    "a version with the same rule is not",
  );
  const labelled = made.askedBy(() => made.namespace("team-3", {}, { tier: "gold" }));
  assert.equal(labelled, 5, "a namespace's labels are asked of each source");
  const noted = made.askedBy(() => made.namespace("team-3", { note: "x" }, { tier: "gold" }));
  assert.equal(noted, 0, "who accepts nothing new is asked first");
  assert.equal(
    made.askedBy(() => made.namespace("team-new")),
    5,
  );
  assert.equal(
    made.askedBy(() => made.namespaces.delete("team-4")),
    0,
  );
  assert.equal(made.askedBy(nothing), 0);
});

test("where no namespace accepts, no glob of a source is matched", () => {
  const made = watched(5, 40);
  made.settings = settingsOf({ namespacePolicy: "opt-in" });
  assert.equal(
    made.askedBy(() => made.namespace("team-x", { accept: "other/*" })),
    0,
  );
  assert.equal(
    made.askedBy(() => made.namespace("team-x", { accept: "shared/s-1" })),
    1,
  );
});

test("no turn of a plan matches more than its steps, however many each source costs", () => {
  const made = watched(0, 100);
  const letters = "a".repeat(20);
  for (let at = 0; at < 50; at++) {
    const globs = Array.from({ length: 99 }, (_, index) => `*${at + index}*${letters}*`);
    made.source(`s-${at}`, `${globs.join(",")},team-*`);
  }
  const steps = plan([made.world()], made.settings, made.memories, 0, new Set());
  let most = 0;
  for (let before = 0; steps.next().done !== true; before = made.steps)
    most = Math.max(most, made.steps - before);
  assert.ok(made.steps > 2_000_000, "they are worth watching");
  assert.ok(most <= 262_144 + 10_080, `${most} steps in a turn`);
});

const brief = ({ actions }: Plan): string[] =>
  actions
    .map(({ kind, place, source }) => `${kind} ${refText(place)} ${refText(source)}`)
    .toSorted();

const NAMES = Array.from({ length: 40 }, (_, at) => `team-${at}`);
const change = fc.oneof(
  fc.record({
    kind: fc.constant("namespace" as const),
    name: fc.constantFrom(...NAMES),
    accept: fc.constantFrom("", "true", "false", "shared/s-1", "shared/*"),
    tier: fc.constantFrom("gold", "tin"),
  }),
  fc.record({ kind: fc.constant("gone" as const), name: fc.constantFrom(...NAMES) }),
  fc.record({
    kind: fc.constant("source" as const),
    name: fc.constantFrom("s-1", "s-2", "s-3"),
    to: fc.constantFrom("*", "team-1*", "team-?,!team-2", "none"),
    selector: fc.constantFrom("", "tier=gold", "!tier"),
    match: fc.constantFrom("", "all", "any"),
  }),
  fc.record({ kind: fc.constant("delete" as const), name: fc.constantFrom("s-1", "s-2", "s-3") }),
  fc.record({
    kind: fc.constant("policy" as const),
    namespacePolicy: fc.constantFrom("opt-in" as const, "opt-out" as const),
  }),
  fc.record({ kind: fc.constant("abandoned" as const), turns: fc.nat(3) }),
);

test("a plan that remembers is the plan of one that does not, whatever came and went", () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 }), (rounds) => {
      const made = new Cluster().withNamespaces("shared");
      for (const name of NAMES) made.namespace(name);
      for (const changes of rounds) {
        for (const one of changes) {
          if (one.kind === "namespace")
            made.namespace(one.name, one.accept ? { accept: one.accept } : {}, { tier: one.tier });
          else if (one.kind === "gone") made.namespaces.delete(one.name);
          else if (one.kind === "delete") made.delete(`shared/${one.name}`);
          else if (one.kind === "policy")
            made.settings = settingsOf({ namespacePolicy: one.namespacePolicy });
          else if (one.kind === "source") {
            const selector = one.selector ? { "to-selector": one.selector } : {};
            const match = one.match ? { match: one.match } : {};
            made.secret(`shared/${one.name}`, { to: one.to, ...selector, ...match });
          } else {
            const steps = plan([made.world()], made.settings, made.memories, 0, new Set());
            for (let turn = 0; turn < one.turns; turn++) steps.next();
          }
        }
        const anew = runPlan([made.world()], made.settings, new PlannerMemory(), 0, new Set());
        assert.deepEqual(brief(made.plan()), brief(anew));
      }
    }),
    { numRuns: 200 },
  );
});
