// A move from each other tool, and its clean-up, killed with requests all along them in turn, reads and
// writes alike: before the API server acted, and after it acted and nobody heard. Whoever runs the same
// command again ends where one ends that was never killed, and on the way no copy loses its data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryWorld, type CommandRun, type Standing } from "../support/worlds/memory-world.ts";
import { WORLDS, type WorldName } from "../support/worlds/world.ts";
import { isBrief } from "../../packages/kube/testing/extent.ts";

type Objects = ReadonlyMap<string, Standing>;

const texts = (objects: Objects, of: "object" | "data"): Readonly<Record<string, string>> =>
  Object.fromEntries([...objects].map(([place, standing]) => [place, standing[of]]));

/** What holds at any moment of a move: all data are as they were, and what is not moved is untouched. */
function lost(before: Objects, now: Objects, movable: ReadonlySet<string>): readonly string[] {
  return [...before].flatMap(([place, was]) => {
    const is = now.get(place);
    if (!is) return [`${place} is gone`];
    if (!place.startsWith("Namespace ") && is.data !== was.data) return [`${place} has other data`];
    if (!movable.has(place) && is.version !== was.version) return [`${place} was written`];
    return [];
  });
}

async function complete(world: WorldName, byList: boolean, cleanup: boolean) {
  const undisturbed = await MemoryWorld.load(world, byList);
  const before = undisturbed.standing();
  const runs: CommandRun[] = [await undisturbed.command(false)];
  if (cleanup) runs.push(await undisturbed.command(true));
  const after = undisturbed.standing();
  const { writes } = await undisturbed.command(cleanup);
  assert.equal(writes, 0, "run again it writes nothing");
  const movable = new Set(
    [...after].filter(([place, is]) => before.get(place)?.version !== is.version).map(([at]) => at),
  );
  return { runs, after, movable };
}

/** Of each kind of death: most requests adopt copies that are alike. Forty find no more, and take a minute. */
const MOST = isBrief ? 2 : 8;

/** Requests to die with, spread over all of them; others where the server acted. */
function deathsOf(requests: number): readonly { readonly at: number; readonly acted: boolean }[] {
  const step = Math.ceil(requests / MOST);
  return [false, true].flatMap((acted) =>
    Array.from({ length: Math.floor(requests / step) }, (_, n) => {
      return { at: acted ? requests - n * step : 1 + n * step, acted };
    }),
  );
}

const MOVES = [
  { what: "move", byList: false, cleanup: false },
  { what: "move by the source list", byList: true, cleanup: false },
  { what: "clean-up", byList: false, cleanup: true },
] as const;

for (const world of WORLDS)
  for (const { what, byList, cleanup } of MOVES) {
    test(`${world}: a repeated ${what} that was killed at each request ends as an unharmed one`, async (t) => {
      const { runs, after, movable } = await complete(world, byList, cleanup);
      const last = runs.at(-1);
      assert.ok(last && last.writes > 0, "something is written");
      const failed: string[] = [];
      const deaths = deathsOf(last.requests);
      for (const { at, acted } of deaths) {
        const one = await MemoryWorld.load(world, byList);
        if (cleanup) await one.command(false);
        const before = one.standing();
        const killed = await one.command(cleanup, { at, acted });
        assert.equal(killed.code, undefined, `request ${at} is met`);
        const wrong = [...lost(before, one.standing(), movable)];
        const again = await one.command(cleanup);
        if (again.code !== last.code) wrong.push(`exit code ${again.code}: ${again.said}`);
        wrong.push(...lost(before, one.standing(), movable));
        try {
          assert.deepEqual(texts(one.standing(), "object"), texts(after, "object"));
          assert.deepEqual(texts(one.standing(), "data"), texts(after, "data"));
        } catch (error) {
          wrong.push(String(error));
        }
        failed.push(...wrong.map((each) => `request ${at}, acted ${acted}: ${each}`));
      }
      t.diagnostic(
        `${last.requests} requests, ${last.writes} of them writes: ${deaths.length} deaths`,
      );
      assert.deepEqual(failed.slice(0, 5), []);
    });
  }
