// What one tenant writes costs the others nothing they notice: a pattern made to be slow, an annotation
// made to be large. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { publishAll } from "../support/scenes/publish.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";

// Far above what either takes, also on a machine that does much else; for ever is above any bound.
const LONGEST_STOP_MS = 2000;
const ONE = { password: "one" };

/** A source in the scene's own source namespace for the namespaces whose names begin with "team-". */
async function publish(scene: Scene): Promise<void> {
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { annotations, data: ONE });
}

/** The longest time in ms for which the event loop stood still until `work` was done. */
async function longestStop(work: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6;
}

test("a pattern made to backtrack for ever is refused or matched at once", async (t) => {
  const scene = await openScene(t);
  const tenant = await scene.namespace("tenant");
  const longest = scene.name("team-").padEnd(63, "a");
  await scene.namespace(longest.slice(scene.prefix.length + 1));
  await publish(scene);
  await publishAll(scene, tenant, {
    regex: { to: "(a+)+$" },
    alternatives: { to: "(a|aa)*b" },
    long: { to: `${"*a".repeat(120)}*b` },
    stars: { to: `${"*a".repeat(30)}*b` },
    questions: { to: `${"*?".repeat(30)}b` },
    keys: { to: longest, keys: `${"*s".repeat(200)}*` },
  });
  scene.given = { "source-namespaces": `${tenant},${scene.source}` };
  const stop = await longestStop(async () => {
    const running = scene.start();
    await scene.holds(longest, "registry", ONE);
    await eventually("it is settled", () => running.settled()?.states.current);
  });
  assert.ok(stop < LONGEST_STOP_MS, `the event loop stood still for ${stop} ms`);
  const plan = await scene.finish();
  const state = (name: string) => plan.sources.find(({ source }) => source.name === name)?.state;
  const refused = ["regex", "alternatives", "long", "questions", "keys"];
  for (const name of refused) assert.equal(state(name), "refused", name);
  assert.equal(state("stars"), "ok");
});

test("an annotation of 200 kB or 10,000 patterns is judged at once in few words", async (t) => {
  const scene = await openScene(t);
  const [place, tenant] = [await scene.namespace("team-a"), await scene.namespace("tenant")];
  await publish(scene);
  const many = (count: number, word: string) => Array.from({ length: count }, (_, n) => word + n);
  const refused = {
    word: { to: "A".repeat(200_000) },
    wildcards: { to: many(10_000, "team-*-").join() },
    entries: { to: many(20_000, "team-").join() },
    exclusions: { to: many(10_000, "!*-").join() },
    selector: { "to-selector": `env in (${many(20_000, "v").join()}` },
    keys: { to: place, keys: many(15_000, "k*").join() },
    name: { to: place, name: "n".repeat(200_000) },
    unknown: { to: place, what: "?".repeat(200_000) },
  };
  await publishAll(scene, tenant, refused);
  const names = [place, ...many(6_000, "team-")].join();
  await publishAll(scene, tenant, { names: { to: names } });
  scene.given = { "source-namespaces": `${tenant},${scene.source}` };
  const running = scene.start();
  const stop = await longestStop(async () => {
    await scene.holds(place, "registry", ONE);
    await scene.holds(place, "names", ONE);
    for (const name of Object.keys(refused))
      await eventually(`an Event on ${name} tells it`, async () => {
        const [note] = await eventNotes(scene, tenant, name, "Refused");
        return note !== undefined && note.length <= 1024;
      });
  });
  assert.ok(stop < LONGEST_STOP_MS, `the event loop stood still for ${stop} ms`);
  for (const line of running.log) assert.ok(line.length < 4096, line.slice(0, 200));
});
