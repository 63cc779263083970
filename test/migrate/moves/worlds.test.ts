// What real tools left behind, judged: of what a person said may be adopted all is, of what must not be
// nothing is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../../src/text/names.ts";
import { migrationOf } from "../../support/worlds/migration.ts";
import { worldObjects, WORLDS, worldVerdicts } from "../../support/worlds/world.ts";

for (const name of WORLDS) {
  test(`of what ${name} left, exactly the safe copies are adopted`, async () => {
    const { copies } = await migrationOf(name, worldObjects(name));
    const states = new Map(
      copies.map(({ object, state, why }) => [
        `${object.kind} ${refText(object)}`,
        { adopt: state === "adoptable", why },
      ]),
    );
    assert.equal(states.size, copies.length, "each object once");
    const wrong = worldVerdicts(name).filter(({ object, adopt }) => {
      const found = states.get(object);
      if (adopt === "may") return found === undefined;
      return found?.adopt !== (adopt === "yes");
    });
    assert.deepEqual(
      wrong.map((verdict) => ({ ...verdict, found: states.get(verdict.object) })),
      [],
    );
    const known = new Set(worldVerdicts(name).map(({ object }) => object));
    assert.deepEqual(
      [...states.keys()].filter((object) => !known.has(object)),
      [],
    );
  });
}
