// Against servers that refuse in their own ways, over minutes of simulated time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WritePace } from "../../../src/controller/flowcontrol/write-pace.ts";
import { TokenBucket } from "../../../packages/kube/time/token-bucket.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";

type Server = {
  /** Whether one that comes at `now` is refused. */
  readonly refuses: (now: number) => boolean;
  readonly retryAfterMs?: number;
  /** How long an answer takes while so many fly. */
  readonly answerMs?: (flying: number) => number;
};
type Flight = { readonly beganMs: number; readonly endsMs: number; readonly refused: boolean };

const MOST = 32;
/** Some 800 a second at most, as a real one on two cores. */
const usual = (flying: number): number => 2 + 1.2 * flying;

/** Of a client that has always something to write: what was taken and refused in each second. */
function simulate({ refuses, retryAfterMs, answerMs = usual }: Server, seconds: number) {
  const pace = new WritePace(MOST);
  const taken = Array.from({ length: seconds + 1 }, () => 0);
  const refused = [...taken];
  let flying: Flight[] = [];
  for (let now = 0; now < 1000 * seconds;) {
    while (flying.length < pace.limit && pace.waitMs(now) === 0) {
      assert.equal(pace.isPaused(now), false);
      pace.began(now);
      const endsMs = now + answerMs(flying.length + 1);
      flying.push({ beganMs: now, endsMs, refused: refuses(now) });
    }
    assert.ok(flying.length <= MOST, "never more than allowed");
    const next = flying.map(({ endsMs }) => endsMs);
    if (flying.length < pace.limit) next.push(now + Math.ceil(pace.waitMs(now)));
    now = Math.min(...next.filter((at) => at > now));
    const second = Math.min(seconds, Math.floor(now / 1000));
    for (const flight of flying.filter(({ endsMs }) => endsMs <= now)) {
      const counts = flight.refused ? refused : taken;
      counts[second] = (counts[second] ?? 0) + 1;
      if (flight.refused) pace.refused(flight.beganMs, now, retryAfterMs);
      else pace.taken(flight.beganMs, now);
    }
    flying = flying.filter(({ endsMs }) => endsMs > now);
  }
  const sum = (counts: readonly number[], from = 0, to = seconds): number =>
    counts.slice(from, to).reduce((all, count) => all + count, 0);
  return {
    pace,
    /** A second, from one second to another. */
    taken: (from = 0, to = seconds) => sum(taken, from, to) / (to - from),
    refused: (from = 0, to = seconds) => sum(refused, from, to) / (to - from),
  };
}

const atRandom = (share: number): Server["refuses"] => {
  const chance = seeded(7);
  return () => chance() < share;
};

const bucketOf = (perSecond: number, burst: number): Server["refuses"] => {
  let now = 0;
  const bucket = new TokenBucket({ clock: { monotonic: () => now }, perSecond, burst });
  return (at) => {
    now = at;
    return !bucket.tryTake();
  };
};

test("without refusals nothing is held back", () => {
  const { pace, taken } = simulate({ refuses: () => false }, 10);
  assert.equal(pace.limit, MOST);
  assert.equal(pace.perSecond, Number.POSITIVE_INFINITY);
  assert.ok(taken() > 780, `${taken()}`);
});

for (const share of [0.1, 0.3, 0.5])
  test(`a server that refuses ${100 * share} % at random is asked as often as before`, () => {
    const { taken } = simulate({ refuses: atRandom(share) }, 120);
    assert.ok(taken() > 0.85 * 790 * (1 - share), `${taken()}`);
  });

for (const [perSecond, burst] of [
  [20, 5],
  [100, 20],
  [500, 50],
  [2000, 200],
] as const)
  test(`nearly all of ${perSecond} accepted writes a second are used, with few refusals`, () => {
    const answerMs = (flying: number): number => (perSecond < 1000 ? usual(flying) : 1);
    const { taken, refused } = simulate({ refuses: bucketOf(perSecond, burst), answerMs }, 120);
    assert.ok(taken() > 0.85 * perSecond, `${taken()} taken`);
    assert.ok(refused() < 0.4 * perSecond, `${refused()} refused`);
    assert.ok(refused(60) < 0.3 * perSecond, `${refused(60)} refused later`);
  });

test("a server that refuses everything for a minute has all its work soon after", () => {
  const { taken, refused } = simulate({ refuses: (now) => now >= 5000 && now < 65_000 }, 80);
  assert.ok(refused(5, 6) < 150, `${refused(5, 6)} in the first second`);
  assert.ok(refused(10, 65) <= 5, `${refused(10, 65)} a second`);
  assert.ok(taken(70) > 780, `${taken(70)} a second after it`);
});

test("a server that refuses nine of ten is asked a few times a second", () => {
  const most = atRandom(0.9);
  const { taken, refused } = simulate(
    { refuses: (now) => now >= 5000 && now < 35_000 && most(now) },
    60,
  );
  assert.ok(refused(10, 35) <= 40, `${refused(10, 35)} a second`);
  assert.ok(taken(50) > 780, `${taken(50)} a second after it`);
});

for (const [retryAfterMs, mostASecond] of [
  [undefined, 5],
  [0, 5],
  [1000, 5],
  [30_000, 1],
  [300_000, 1],
] as const)
  test(`a server with Retry-After ${retryAfterMs} ms is asked ${mostASecond} times a second at most`, () => {
    const { refused } = simulate(
      { refuses: () => true, ...(retryAfterMs !== undefined && { retryAfterMs }) },
      120,
    );
    assert.ok(refused(10) <= mostASecond, `${refused(10)} a second`);
  });

test("the longest time of consecutive refusals is waited for until one write succeeds", () => {
  const pace = new WritePace(MOST);
  const refuse = (times: number, retryAfterMs: number): void => {
    for (let n = 0; n < times; n++) pace.refused(0, 0, retryAfterMs);
  };
  refuse(19, 60_000);
  pace.taken(0, 0);
  assert.equal(pace.waitMs(0), 0);
  const fresh = new WritePace(MOST);
  fresh.refused(0, 0, 9000);
  for (let n = 0; n < 19; n++) fresh.refused(0, 0, 1000);
  assert.equal(fresh.waitMs(0), 9000);
  assert.equal(fresh.isPaused(8999), true);
  assert.equal(fresh.isPaused(9000), false);
});

test("one allowed write stays one, and of few no fewer than four fly", () => {
  for (const [most, fewest] of [
    [1, 1],
    [3, 3],
    [32, 4],
  ] as const) {
    const pace = new WritePace(most);
    for (let second = 0; second < 20; second++)
      for (let n = 0; n < 20; n++) pace.refused(1000 * second, 1000 * second, 500);
    assert.equal(pace.limit, fewest);
  }
});
