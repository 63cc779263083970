// Words that cannot be taken as they are: the source is refused by a reason that names the word and what
// would be right, its copies freeze, and nothing is deleted. Runs on the sandbox and on a real API
// server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problemText } from "../../src/controller/annotations/rules.ts";
import { eventually } from "../support/time/eventually.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { ONE, publishOne, TWO } from "../support/scenes/registry.ts";
import type { Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";

type Words = Readonly<Record<string, string | null>>;

const PAIR = "expected to and to-selector, or allow and allow-selector with it, or no match";
const FAULTS: readonly (readonly [what: string, words: Words, told: string])[] = [
  ["match that is neither", { match: "some" }, '/match: "some": expected "all" or "any"'],
  ["an empty match", { match: "" }, '/match: "": expected a value, or no such annotation'],
  ["match: any beside one word", { match: "any", "to-selector": null }, `/match: "any": ${PAIR}`],
  [
    "match: any beside exclusions alone",
    { match: "any", to: "!nobody" },
    '/to: "!nobody": expected a glob without "!" as well, or secretcast.io/match off',
  ],
  [
    "match: any beside exclusions alone in allow",
    { match: "any", allow: "!nobody", "allow-selector": "a" },
    '/allow: "!nobody": expected a glob without "!" as well, or secretcast.io/match off',
  ],
  [
    "match in capitals",
    { Match: "any" },
    '/Match: "Match": expected one of to, to-selector, match,',
  ],
];

function annotate({ api, source }: Scene, words: Words): Promise<unknown> {
  const entries = Object.entries(words).map(([word, text]) => [`secretcast.io/${word}`, text]);
  return api.annotate(source, "registry", Object.fromEntries(entries));
}

test("a word that cannot be taken refuses the source by name, freezes its copies and deletes nothing", async (t) => {
  const scene = await openFastScene(t);
  const teams = [await scene.namespace("team-a"), await scene.namespace("team-b")];
  const words = { to: scene.name("team-*"), "to-selector": "!none" };
  await publishOne(scene, { annotations: { "secretcast.io/to-selector": "!none" } });
  const running = scene.start();
  for (const team of teams) await scene.holds(team, "registry", ONE);
  const before = new Map(
    [...(await scene.versions())].filter(([place]) => !place.startsWith(scene.source)),
  );
  const copies = async () =>
    new Map([...(await scene.versions())].filter(([place]) => before.has(place)));
  for (const [what, faulty, told] of FAULTS) {
    await annotate(scene, faulty);
    await scene.api.setData(scene.source, "registry", TWO);
    await eventually(`${what} is refused`, () => {
      const plan = running.settled();
      const [problem] = plan?.sources[0]?.problems ?? [];
      return problem && problemText(problem).includes(told) && plan?.states.frozen === 2;
    });
    const note = await eventually(`${what} is told`, async () => {
      const notes = await eventNotes(scene, scene.source, "registry", "Refused");
      return notes.some((each) => each.includes(told)) && notes;
    });
    assert.ok(note.every((each) => each.startsWith("invalid secretcast.io/")));
    assert.deepEqual(await copies(), before, what);
    await scene.api.setData(scene.source, "registry", ONE);
    const off = Object.fromEntries(Object.keys(faulty).map((word) => [word, null]));
    await annotate(scene, { ...off, ...words });
    await eventually(`${what} is over`, () => {
      const plan = running.settled();
      return plan?.sources[0]?.state === "ok" && plan.states.current === 2;
    });
    assert.deepEqual(await copies(), before, what);
  }
  assert.ok(!running.outcomes.some(({ action }) => ["delete", "release"].includes(action.kind)));
  await running.stop();
  await scene.finish();
});
