// Objects that a user changes without a pause: nobody keeps an unwanted copy by that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWrite, Rig } from "../../support/controller/fake-clock-controller.ts";

const GRACE_MS = 10_000;
const BOUND_MS = GRACE_MS + 6000;
const P = "secretcast.io/";

type Touch = (rig: Rig, round: number) => void;

/** How long the copy in team-0 stays once `end` was done, while `touch` is done every `everyMs`. */
async function removalTakes(
  rig: Rig,
  end: (rig: Rig) => void,
  touch: Touch,
  everyMs: number,
  writeMs = 0,
) {
  const started = rig.start({
    given: { concurrency: "4" },
    before: async (request) => {
      if (writeMs > 0 && isWrite(request))
        await new Promise<void>((resolve) => rig.clock.setTimeout(() => resolve(), writeMs));
    },
  });
  await rig.clock.advance(10_000);
  assert.ok(rig.api.get("team-0/registry"), "there is a copy");
  end(rig);
  const began = rig.clock.monotonic();
  const passed = (): number => rig.clock.monotonic() - began;
  for (let round = 0; rig.api.get("team-0/registry") && passed() < 2 * BOUND_MS; round++) {
    touch(rig, round);
    await rig.clock.advance(everyMs);
  }
  const took = passed();
  await started.stop();
  return took;
}

function annotated(rig: Rig, annotations: Readonly<Record<string, string | null>>): void {
  rig.api.secret("shared/registry", { annotations });
}

const decline = (rig: Rig): void =>
  rig.api.namespace("team-0", { annotations: { [`${P}accept`]: "false" } });
const label = (rig: Rig, labels: Readonly<Record<string, string>>): void =>
  rig.api.namespace("team-0", { labels });

const TOUCHES: Readonly<Record<string, [end: (rig: Rig) => void, touch: Touch]>> = {
  "an annotation of the source": [decline, (rig, round) => annotated(rig, { note: `${round}` })],
  "the value of the source": [
    decline,
    (rig, round) => rig.source("shared/registry", { password: `${round}` }),
  ],
  "the namespaces that the source names": [
    (rig) => annotated(rig, { [`${P}to`]: "team-*,!team-0" }),
    (rig, round) => annotated(rig, { [`${P}to`]: `team-*,!team-0,nowhere-${round}` }),
  ],
  "a label of the Namespace": [decline, (rig, round) => label(rig, { note: `${round}` })],
  "a label of the Namespace that a selector leaves out": [
    (rig) => {
      annotated(rig, { [`${P}to-selector`]: "tier!=gold" });
      label(rig, { tier: "gold" });
    },
    (rig, round) => label(rig, { note: `${round}` }),
  ],
};

for (const [what, [end, touch]] of Object.entries(TOUCHES))
  for (const everyMs of [20, 300])
    test(`a removal is made although somebody changes ${what} every ${everyMs} ms`, async () => {
      const rig = new Rig("team-0", "team-1", "team-2");
      const took = await removalTakes(rig, end, touch, everyMs);
      assert.ok(took >= GRACE_MS && took <= BOUND_MS, `after ${took} ms`);
    });

test("a removal beside a busy source waits six seconds beyond its grace at most", async () => {
  const rig = new Rig();
  rig.teams(...Array.from({ length: 300 }, (_, n) => `team-${n}`));
  const change: Touch = ({ api }, round) => {
    api.secret("shared/registry", {}, { password: `${round}` });
  };
  const took = await removalTakes(rig, decline, change, 400, 30);
  assert.ok(took >= GRACE_MS && took <= BOUND_MS, `after ${took} ms`);
});
