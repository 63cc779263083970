// Histories of a place and of a Pod there, with the truth known: what the Pod really holds by the rules of a
// kubelet, whose cache, refresh and report are late by up to the sync period. Which places count is not part of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { heldCode, type ObjectValue } from "../../../src/cli/holding/held-value.ts";
import type { Use, UsingPod } from "../../../src/cli/holding/using-pod.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";

const SYNC = 120;
const HOLD = 1800;
const HISTORIES = 100_000;
const SEED = 48;

/** What is at the place from `at` on. `old`: it is the value to revoke. */
type Content = {
  readonly at: number;
  readonly old: boolean;
  readonly key: string | undefined;
};

type History = {
  readonly use: Use;
  readonly pod: UsingPod;
  readonly value: ObjectValue;
  readonly now: number;
  /** The truth. */
  readonly isHeld: boolean;
};

function history(chance: () => number): History {
  const upTo = (most: number): number => Math.floor(chance() * (most + 1));
  const changed = 500 + upTo(2000);
  const removed = changed + upTo(chance() < 0.5 ? SYNC : HOLD);
  const replaced = removed + upTo(600);
  const key = chance() < 0.7 ? "a" : "b";
  const end = chance();
  const contents: Content[] = [{ at: 0, old: true, key: "a" }];
  let value: ObjectValue;
  if (end < 0.1) value = { kind: "older" };
  else if (end < 0.5) {
    contents.push({ at: removed, old: false, key });
    value = { kind: "present", since: removed, isImmutable: false, keys: new Set([key]) };
  } else {
    contents.push({ at: removed, old: false, key: undefined });
    value = { kind: "former", until: changed + HOLD };
    if (end < 0.8) {
      contents.push({ at: replaced, old: false, key });
      value = { kind: "other", since: replaced, isImmutable: false, keys: new Set([key]) };
    }
  }
  const now = replaced + upTo(chance() < 0.5 ? 2 * SYNC : 5000);
  const near = Math.max(0, removed - SYNC + upTo(3 * SYNC));
  const createdAt = Math.min(now, chance() < 0.5 ? near : upTo(now));
  const startedAt = Math.min(now, createdAt + upTo(20));
  const at = Math.min(now, startedAt + upTo(60));
  const isOptional = chance() < 0.3;
  const seen = (time: number): Content | undefined => contents.findLast((each) => each.at <= time);
  const ways = ["environment", "subPath", "volume"] as const;
  const by = ways[upTo(2)] ?? "volume";
  const required = by === "volume" && !isOptional && chance() < 0.5 ? ["a"] : [];
  const first = seen(at - upTo(SYNC));
  const fits = (content: Content | undefined): boolean =>
    isOptional ||
    (content?.key !== undefined && (required.length === 0 || required.includes(content.key)));
  const starts = fits(first);
  let held = starts ? first : undefined;
  if (by === "volume" && starts)
    for (const content of contents)
      if (content.at > (first?.at ?? -1) && content.at + upTo(SYNC) <= now && fits(content))
        held = content;
  const isReported = createdAt <= now - SYNC || chance() < 0.5;
  const start: Use["start"] = !starts
    ? { kind: "waiting" }
    : isReported
      ? { kind: "started", at }
      : { kind: "unreported" };
  const use: Use = { name: "db", by, start, isOptional, required };
  const pod: UsingPod = {
    namespace: "team-a",
    name: "web",
    owner: undefined,
    createdAt,
    startedAt: isReported || chance() < 0.5 ? startedAt : undefined,
    isScheduled: true,
    isRunning: starts && isReported,
    isDeleting: false,
    uses: [use],
  };
  return { use, pod, value, now, isHeld: held?.old === true };
}

type Judge = (history: History) => boolean;

const judge: Judge = ({ use, pod, value, now }) =>
  heldCode(use, pod, value, { now, syncPeriod: SYNC }) !== undefined || value.kind === "older";

function play(count: number, judged: Judge) {
  const chance = seeded(SEED);
  const tally = { falseSafe: 0, unsafe: 0, needless: 0 };
  for (let n = 0; n < count; n++) {
    const made = history(chance);
    const isUnsafe = judged(made);
    if (made.isHeld && !isUnsafe) tally.falseSafe++;
    if (isUnsafe) tally.unsafe++;
    if (!made.isHeld && isUnsafe && made.value.kind !== "older") tally.needless++;
  }
  return tally;
}

test("no history has a false safe", (t) => {
  const { falseSafe, unsafe, needless } = play(HISTORIES, judge);
  const share = ((100 * needless) / HISTORIES).toFixed(1);
  t.diagnostic(`${HISTORIES} histories, ${unsafe} unsafe, ${share} % needlessly`);
  assert.equal(falseSafe, 0);
  assert.ok(unsafe < HISTORIES, "some histories are safe");
});

/** Rules that were wrong once, each as a change of what is judged. */
const FAULTS: readonly (readonly [fault: string, judged: Judge])[] = [
  [
    "a start just after the write counts as new",
    (made) => {
      const { value } = made;
      if (value.kind !== "present") return judge(made);
      return judge({ ...made, value: { ...value, since: value.since - SYNC } });
    },
  ],
  [
    "the entries that a volume names are not read",
    (made) => judge({ ...made, use: { ...made.use, required: [] } }),
  ],
  [
    "a place without an object was never one",
    (made) => made.value.kind !== "former" && judge(made),
  ],
  ["another object hides what was there", (made) => made.value.kind !== "other" && judge(made)],
  [
    "a copy that is not current holds nothing",
    (made) => made.value.kind !== "older" && judge(made),
  ],
  [
    "a copy is removed as soon as its source changes",
    (made) => {
      const { value } = made;
      if (value.kind !== "former" || value.until === undefined) return judge(made);
      return judge({ ...made, value: { ...value, until: value.until - HOLD } });
    },
  ],
];

for (const [fault, judged] of FAULTS)
  test(`the histories find a planted fault: ${fault}`, () => {
    assert.ok(play(5000, judged).falseSafe > 0);
  });
