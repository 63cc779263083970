// An API server that answers 429 to much of what it is asked, for the whole controller on a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { isWrite, Rig } from "../../support/controller/fake-clock-controller.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";

const RETRY_AFTER_MS = 1000;
const WRITE_MS = 20;
const TEAMS = Array.from({ length: 150 }, (_, n) => `team-${n}`);
const SOURCES = Array.from({ length: 6 }, (_, n) => `shared/source-${n}`);

/** Writes take their time; of them those that `refuses` says are refused. */
function overloaded(rig: Rig, refuses: (now: number) => boolean) {
  const tries = new Map<string, number>();
  const state = { most: 0, flying: 0, refused: 0, soonestMs: Infinity };
  const before = async (request: ApiRequest): Promise<void> => {
    if (!isWrite(request)) return;
    const now = rig.clock.monotonic();
    const { metadata } = request.body as { readonly metadata: { readonly name?: string } };
    const place = `${request.path} ${metadata.name}`;
    const last = tries.get(place);
    if (last !== undefined) state.soonestMs = Math.min(state.soonestMs, now - last);
    state.most = Math.max(state.most, ++state.flying);
    const refused = refuses(now);
    await new Promise<void>((resolve) => rig.clock.setTimeout(resolve, WRITE_MS));
    state.flying--;
    if (!refused) return;
    state.refused++;
    tries.set(place, rig.clock.monotonic());
    throw new ApiError(request.what, {
      kind: "throttled",
      reason: "TooManyRequests",
      retryAfterMs: RETRY_AFTER_MS,
    });
  };
  return { before, state };
}

const copiesIn = (rig: Rig): number =>
  TEAMS.flatMap((team) => SOURCES.filter((source) => rig.api.get(source.replace("shared", team))))
    .length;

test("a fan-out with half of its writes refused makes all copies in time", async () => {
  const rig = new Rig(...TEAMS);
  for (const source of SOURCES) rig.source(source, { k: "v" });
  const chance = seeded(3);
  const { before, state } = overloaded(rig, () => chance() < 0.5);
  const started = rig.start({ before, given: { concurrency: "8" } });
  // Times of creation have whole seconds: what is made now is younger.
  await rig.clock.advance(1500);
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) {
    rig.api.namespace(`team-fresh-${n}`);
    const began = rig.clock.monotonic();
    while (rig.api.writes.every((write) => write !== `POST team-fresh-${n}`))
      await rig.clock.advance(20);
    waits.push(rig.clock.monotonic() - began);
  }
  assert.ok(copiesIn(rig) < TEAMS.length * SOURCES.length, "in the midst of it");
  assert.ok(Math.max(...waits) <= 600, `first tried after ${waits.join()} ms`);
  await rig.clock.advance(20_000);
  assert.equal(copiesIn(rig), TEAMS.length * SOURCES.length);
  assert.equal(state.most, 8);
  assert.ok(state.refused > 500, `${state.refused} refused`);
  assert.ok(state.soonestMs >= RETRY_AFTER_MS, `${state.soonestMs} ms after a refusal`);
  const lines = started.lines.filter(({ msg }) => msg.includes("429"));
  assert.ok(lines.length >= 1 && lines.length <= 6, `${lines.length} lines name the 429`);
  assert.equal(lines[0]?.msg, "writes refused: the API server is overloaded (429)");
  await started.stop();
  await rig.assertRight();
});

test("a server that takes nothing for a minute has all copies seconds later", async () => {
  const rig = new Rig(...TEAMS);
  const { before, state } = overloaded(rig, (now) => now < 60_000);
  const started = await rig.run(60_000, { before, given: { concurrency: "8" } });
  assert.ok(state.refused <= 320, `${state.refused} in a minute`);
  await rig.clock.advance(8000);
  assert.ok(TEAMS.every((team) => rig.api.get(`${team}/registry`)));
  await started.stop();
  await rig.assertRight();
});
