import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./api-error.ts";
import { RetryAfter } from "./retry-after.ts";
import type { RetryDeadline } from "./retry-after.ts";
import { FakeClock, settle } from "../testing/fake-clock.ts";

function open() {
  const clock = new FakeClock();
  const throttle = new RetryAfter(clock);
  const patience = (ms: number, signal = new AbortController().signal): RetryDeadline => {
    const endsAt = clock.monotonic() + ms;
    return {
      get leftMs() {
        return endsAt - clock.monotonic();
      },
      signal,
    };
  };
  /** When the turn came, or what kept it from coming. */
  const turn = (given: RetryDeadline): { readonly result: () => unknown } => {
    let result: unknown = "waiting";
    throttle.wait("get secret", given).then(
      () => (result = clock.monotonic()),
      (error: unknown) =>
        (result = error instanceof ApiError ? `${error.kind} ${error.retryAfterMs}` : "aborted"),
    );
    return { result: () => result };
  };
  /** As many refusals as show that nothing is taken. */
  const pause = (ms: number): void => {
    for (let n = 0; n < 20; n++) throttle.refused(ms);
  };
  return { clock, throttle, pause, patience, turn };
}

test("without a pause a turn comes at once", async () => {
  const { clock, pause, patience, turn } = open();
  const first = turn(patience(1));
  pause(0);
  const second = turn(patience(1));
  await settle();
  assert.deepEqual([first.result(), second.result()], [0, 0]);
  assert.equal(clock.timers, 0);
});

test("refusals hold back nobody while anything is taken", async () => {
  const { clock, throttle, patience, turn } = open();
  for (let n = 0; n < 19; n++) throttle.refused(9000);
  throttle.taken();
  for (let n = 0; n < 19; n++) throttle.refused(1000);
  const first = turn(patience(1));
  await settle();
  assert.equal(first.result(), 0);
  throttle.refused(2000);
  assert.equal(throttle.leftMs, 2000, "what was named before something was taken is over");
  assert.equal(clock.timers, 0);
});

test("of several pauses the one that ends last counts, also for those who wait already", async () => {
  const { clock, throttle, pause, patience, turn } = open();
  pause(2000);
  const waiting = turn(patience(30_000));
  await clock.advance(1000);
  pause(4000);
  pause(10);
  assert.equal(throttle.leftMs, 4000);
  await clock.advance(3999);
  assert.equal(waiting.result(), "waiting");
  await clock.advance(1);
  assert.equal(waiting.result(), 5000);
});

test("a turn after the deadline is refused at once with the rest of the pause", async () => {
  const { clock, pause, patience, turn } = open();
  pause(5000);
  await clock.advance(1000);
  const refused = turn(patience(4000));
  const granted = turn(patience(4001));
  await settle();
  assert.equal(refused.result(), "throttled 4000");
  await clock.advance(4000);
  assert.equal(granted.result(), 5000);
});

test("a pause made longer refuses those whose time it outlasts", async () => {
  const { clock, pause, patience, turn } = open();
  pause(1000);
  const waiting = turn(patience(2000));
  pause(9000);
  await clock.advance(1000);
  assert.equal(waiting.result(), "throttled 8000");
  assert.equal(clock.timers, 0);
});

test("a signal ends the wait at once and leaves no timer", async () => {
  const { clock, pause, patience, turn } = open();
  pause(5000);
  const stop = new AbortController();
  const waiting = turn(patience(30_000, stop.signal));
  await clock.advance(100);
  stop.abort();
  await settle();
  assert.equal(waiting.result(), "aborted");
  assert.equal(clock.timers, 0);
});

test("no turn comes after its time, however late the timers fire", async () => {
  const { clock, pause, patience, turn } = open();
  pause(1000);
  const given = patience(2000);
  let heldUp = 0;
  const waiting = turn({
    get leftMs() {
      return given.leftMs - heldUp;
    },
    signal: given.signal,
  });
  await settle();
  heldUp = 1500;
  await clock.advance(1000);
  assert.equal(waiting.result(), "throttled 0");
});
