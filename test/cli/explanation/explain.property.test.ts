// What is explained is what the planner says: of random histories, by every source, every copy and every
// pulling Secret, with the plan's rows and without them.
import { reasonText } from "../../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { PlaceAnswer } from "../../../src/cli/explanation/answer.ts";
import { explain } from "../../../src/cli/explanation/explain.ts";
import {
  isPending,
  newTally,
  statesOf,
  VERDICTS,
  type Tally,
  type Plan,
  type Verdict,
} from "../../../src/controller/model/verdicts.ts";
import { readFilter } from "../../../src/page/filter.ts";
import { readStatus } from "../../../src/page/status.ts";
import { refText } from "../../../src/text/names.ts";
import { histories as plain, type Step } from "../../support/planner/history.ts";
import { live } from "../../support/planner/live.ts";
import { propertyRuns } from "../../../packages/kube/testing/extent.ts";
import type { Cluster } from "../../support/planner/planner-cluster.ts";

const runs = propertyRuns;
const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? String(Date.now() % 2 ** 31));

// Of those that say both words, some are to hold by one of them.
const histories = plain.map((history) => ({ ...history, steps: history.steps.map(eitherWord) }));

function eitherWord(step: Step): Step {
  if (step.kind !== "source" || step.name !== "two") return step;
  const { to, "to-selector": selector } = step.words;
  const both = to !== undefined && selector !== undefined;
  return both ? { ...step, words: { ...step.words, match: "any" } } : step;
}

/** Every answer there is, each pair of source and place once. */
function everything(made: Cluster, plan: Plan): ReadonlyMap<string, PlaceAnswer> {
  const clusterState = made.clusterState();
  const subjects = [...made.secrets.values()].map(({ metadata }) => metadata);
  const answers = new Map<string, PlaceAnswer>();
  for (const subject of [...subjects, ...plan.rows.map(({ source }) => source)]) {
    for (const answer of explain(clusterState, made.settings, plan, subject).places) {
      const pair = `${refText(answer.source)} ${refText(answer.place)} ${answer.pulling}`;
      const before = answers.get(pair);
      if (before) assert.equal(answer.verdict, before.verdict, pair);
      answers.set(pair, answer);
    }
  }
  return answers;
}

function known(verdict: PlaceAnswer["verdict"]): Verdict {
  assert.notEqual(verdict, "unknown", "the reader may read everything");
  return verdict === "unknown" ? "frozen" : verdict;
}

function ofHistories(rule: string, check: (made: Cluster) => void): void {
  test(rule, (context) => {
    context.diagnostic(`seed ${seed}, ${runs} runs`);
    fc.assert(
      fc.property(histories, (history) => void live(history, check)),
      { numRuns: runs, seed },
    );
  });
}

ofHistories(
  "explain's verdicts are the plan's, counted over every pair of source and place",
  (made) => {
    const plan = made.plan();
    const counted = newTally();
    for (const { verdict } of everything(made, plan).values()) counted[known(verdict)]++;
    for (const verdict of VERDICTS) {
      // The planner counts no skip where a copy of another source has the place.
      if (verdict === "skip") assert.ok(counted.skip >= plan.counts.skip);
      else assert.equal(counted[verdict], plan.counts[verdict], verdict);
    }
  },
);

ofHistories("every row of the plan is explained with its verdict, reason and one rule", (made) => {
  const plan = made.plan();
  const answers = everything(made, plan);
  for (const row of plan.rows) {
    const answer = answers.get(`${refText(row.source)} ${refText(row.place)} ${row.pulling}`);
    assert.equal(answer?.verdict, row.verdict);
    assert.equal(answer.reason, reasonText(row.reason));
    assert.equal(answer.code, row.reason.code);
    assert.ok(answer.decided.answer !== "");
  }
});

ofHistories(
  "a pending place beyond the rows of a plan is pending by the planner's decision",
  (made) => {
    const plan = made.plan();
    const few = { ...plan, rows: plan.rows.filter(({ verdict }) => !isPending(verdict)) };
    const whole = everything(made, plan);
    for (const [pair, { verdict }] of everything(made, few)) {
      const planned = whole.get(pair)?.verdict;
      assert.ok(verdict !== "unknown" && planned !== "unknown", "the reader may read everything");
      if (planned === undefined || planned === verdict) continue;
      assert.ok(isPending(planned), `${pair}: ${planned}, and ${verdict} without rows`);
      assert.ok(isPending(verdict), `${pair}: ${planned} ${verdict}`);
    }
  },
);

test("status and explain agree: on each source's states, and on each place that status names", async (t) => {
  t.diagnostic(`seed ${seed}, ${runs} runs`);
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      let last: Cluster | undefined;
      live(history, (made) => void (last = made));
      if (last) await assertAgree(last);
    }),
    { numRuns: runs, seed },
  );
});

async function assertAgree(made: Cluster): Promise<void> {
  const plan = made.plan();
  const clusterStates = [made.clusterState()];
  const snapshot = { ...ALONE, clusterStates, plan };
  const filter = readFilter(new URLSearchParams("limit=10000"));
  const status = await readStatus(snapshot, { version: "test", plannedMs: 0 }, filter);
  const answers = everything(made, plan);
  const tallies = new Map<string, Tally>();
  for (const { source, verdict, pulling } of answers.values()) {
    // A pulling object counts for its own namespace.
    if (pulling) continue;
    const tally = tallies.get(refText(source)) ?? newTally();
    tallies.set(refText(source), tally);
    tally[known(verdict)]++;
  }
  for (const { source, states } of status.sources.shown)
    assert.deepEqual(statesOf(tallies.get(source) ?? newTally()), states, source);
  for (const { source, verdict, places } of status.groups.shown)
    for (const place of places.shown) {
      const both = [false, true].map((pulling) => answers.get(`${source} ${place} ${pulling}`));
      assert.ok(
        both.some((answer) => answer?.verdict === verdict),
        `${source} at ${place}: status says ${verdict}`,
      );
    }
}

const ALONE = {
  dryRun: false,
  convergedMs: undefined,
  offsetMs: 0,
  leader: { state: "alone", holder: undefined, command: undefined },
  watches: [],
  outdated: undefined,
  serverAwayMs: undefined,
  troubles: [],
  unreadableNames: [],
} as const;
