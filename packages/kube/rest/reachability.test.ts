import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { longestRetryMs, Reachability } from "./reachability.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { answer, serve } from "../testing/http-server.ts";
import { clientFor } from "../testing/client-for.ts";

function counted(): { clock: FakeClock; reachability: Reachability; woken: () => number } {
  const clock = new FakeClock();
  const reachability = new Reachability(clock);
  let woken = 0;
  reachability.onRecovery(() => woken++);
  return { clock, reachability, woken: () => woken };
}

test("RF-36 the first success after an outage wakes once, and no other does", async () => {
  const { clock, reachability, woken } = counted();
  reachability.answered();
  reachability.unanswered();
  await clock.advance(1000);
  reachability.unanswered();
  assert.equal(woken(), 0);
  reachability.answered();
  reachability.answered();
  assert.deepEqual([woken(), reachability.recoveries], [1, 1]);
});

test("RF-36 an outage shorter than half a second wakes nobody", async () => {
  const { clock, reachability, woken } = counted();
  for (let round = 0; round < 100; round++) {
    reachability.unanswered();
    await clock.advance(499);
    reachability.answered();
  }
  assert.equal(woken(), 0);
});

test("RF-36 a sleeper wakes by time, its signal or the end of an outage", async () => {
  const { clock, reachability } = counted();
  const never = new AbortController().signal;
  const stop = new AbortController();
  const ends: string[] = [];
  const note = (name: string) => (woken: boolean) => void ends.push(`${name} ${woken}`);
  void reachability.sleep(100, never).then(note("by time"));
  void reachability.sleep(9000, stop.signal).then(note("by its signal"));
  void reachability.sleep(9000, never).then(note("by the server"));
  void reachability.sleep(2000, never, true).then(note("deaf"));
  await clock.advance(100);
  stop.abort();
  await clock.advance(0);
  reachability.unanswered();
  await clock.advance(1000);
  reachability.answered();
  await clock.advance(1000);
  assert.deepEqual(ends, [
    "by time false",
    "by its signal false",
    "by the server true",
    "deaf false",
  ]);
  assert.equal(clock.timers, 0);
  assert.equal(await reachability.sleep(1, stop.signal), false);
});

test("RF-36 the longest wait grows with the outage, from 1 s to 30 s", () => {
  const minutes = [0, 0.5, 1, 2, 5, 20, 600].map((minute) => longestRetryMs(minute * 60_000));
  assert.deepEqual(minutes, [1000, 1000, 1500, 3000, 7500, 30_000, 30_000]);
});

test("RF-36 clients of one server share what they learn: a GET without answer, any success", async (t: TestContext) => {
  const clock = new FakeClock();
  const reachability = new Reachability(clock);
  let status = 200;
  const server = await serve(t, (_, response) => answer(response, status, {}));
  const one = clientFor(t, server.url, { reachability });
  const other = clientFor(t, server.url, { reachability });
  const ask = (client: typeof one, method: "GET" | "POST"): Promise<unknown> =>
    client.request({ method, path: "/x", what: "ask" }).catch(() => undefined);
  const away = async (): Promise<boolean> => {
    const { recoveries } = reachability;
    await clock.advance(60_000);
    await ask(other, "POST");
    return reachability.recoveries > recoveries;
  };
  for (const [method, code, isAway] of [
    ["GET", 500, false],
    ["GET", 403, false],
    ["POST", 503, false],
    ["GET", 503, true],
    ["GET", 502, true],
  ] as const) {
    status = code;
    await ask(one, method);
    status = 200;
    assert.equal(await away(), isAway, `${method} ${code}`);
  }
});
