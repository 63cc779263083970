import assert from "node:assert/strict";
import { test } from "node:test";
import { Access } from "./access.ts";
import { FakeClock, settle } from "../testing/fake-clock.ts";
import { setup } from "../testing/informer-setup.ts";

test("five seconds of 403 for every answer deny access until the first success", async () => {
  const clock = new FakeClock();
  const access = new Access(clock);
  const changes: boolean[] = [];
  access.onChange((denied) => changes.push(denied));
  access.refused();
  await clock.advance(4999);
  access.refused();
  assert.deepEqual(changes, []);
  access.granted();
  await clock.advance(1);
  access.refused();
  await clock.advance(5000);
  access.refused();
  access.refused();
  assert.deepEqual(changes, [true]);
  access.granted();
  access.granted();
  assert.deepEqual(changes, [true, false]);
});

test("an informer knows whether it is let in", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  (await filled(5)).cut();
  for (let tries = 0; tries < 3; tries++) {
    await clock.advance(6000);
    const kind = tries === 1 ? "throttled" : "forbidden";
    (await api.next("watch")).fail({ kind, status: 403, reason: "Forbidden" });
    await settle();
    assert.equal(informer.access.denied, tries === 2);
  }
  await clock.advance(60_000);
  (await api.next("watch")).accept();
  await settle();
  assert.equal(informer.access.denied, false);
});
