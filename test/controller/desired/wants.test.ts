// Who wants what is one table for each sync: a bit for each source and namespace, worked out in turns.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Sources } from "../../../src/controller/desired/sources.ts";
import { matchOf, targetsOf } from "../../../src/controller/desired/targets.ts";
import { isWanted, noteWants } from "../../../src/controller/desired/wants.ts";
import { plan } from "../../../src/controller/plan/plan.ts";
import { Cluster, settingsOf } from "../../support/planner/planner-cluster.ts";

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
    const globs = Array.from({ length: 9 }, (_, index) => `*${at + index}*${letters}*`);
    made.source(`s-${at}`, `${globs.join(",")},team-*`);
  }
  const steps = plan([made.clusterState()], made.settings, made.memories, 0, new Set());
  let most = 0;
  for (let before = 0; steps.next().done !== true; before = made.steps)
    most = Math.max(most, made.steps - before);
  assert.ok(made.steps > 1_000_000, "they are worth watching");
  assert.ok(most <= 262_144 + 1008, `${most} steps in a turn`);
});

const NAMES = Array.from({ length: 40 }, (_, at) => `team-${at}`);
const namespace = fc.record({
  name: fc.constantFrom(...NAMES),
  accept: fc.constantFrom("", "true", "false", "shared/s-1", "shared/*", "?"),
  tier: fc.constantFrom("gold", "tin"),
});
const source = fc.record({
  to: fc.constantFrom("*", "team-1*", "team-?,!team-2", "none"),
  selector: fc.constantFrom("", "tier=gold", "!tier"),
  match: fc.constantFrom("", "all", "any"),
});

test("a source wants a namespace exactly where each rule by itself says so", () => {
  fc.assert(
    fc.property(
      fc.array(namespace, { maxLength: 40 }),
      fc.array(source, { maxLength: 3 }),
      fc.constantFrom("opt-in" as const, "opt-out" as const),
      (namespaces, sources, namespacePolicy) => {
        const made = new Cluster({ namespacePolicy }).withNamespaces("shared");
        for (const { name, accept, tier } of namespaces)
          made.namespace(name, accept ? { accept } : {}, { tier });
        for (const [at, { to, selector, match }] of sources.entries())
          made.secret(`shared/s-${at}`, {
            to,
            ...(selector && { "to-selector": selector }),
            ...(match && { match }),
          });
        const clusterState = made.clusterState();
        const targets = targetsOf(clusterState, made.settings);
        const { candidates } = all(Sources.of(clusterState, made.settings));
        all(noteWants(candidates, targets));
        for (const candidate of candidates) {
          const wanted = targets.filter((target) => matchOf(candidate, target) === "wanted");
          assert.deepEqual(
            targets.filter((target) => isWanted(candidate, target)),
            wanted,
          );
          assert.equal(candidate.wantedTotal, wanted.length);
        }
      },
    ),
    { numRuns: 200 },
  );
});

function all<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
